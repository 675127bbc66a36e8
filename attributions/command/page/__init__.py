"""A report for people who do not write Python: one HTML file that says what was found.

===========  =======================================================================================
``page``     all of it in the order of the page; ``page.html``, ``page.css`` and ``page.js``
``tables``   the tables of the page
``figures``  pictures as SVG, with headings, captions and text alternatives
``rows``     single rows, as data for the page's script
``markup``   elements of HTML and SVG; all other text is escaped
===========  =======================================================================================

The file needs no network, no font and no other file. Its size does not grow with the number of
rows: 200 rows can be looked at, and a picture has at most 400 points. With 500
features of ordinary names it stays below two megabytes.
"""
