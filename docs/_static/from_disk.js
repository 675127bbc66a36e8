/* A browser lets no page read another from disk, so there the search lists pages without excerpts. */
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
