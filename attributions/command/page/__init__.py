"""A report for people who do not write Python: one HTML file that says what was found.

=================  =================================================================================
``contents``       the report before it is written: findings and explained rows
``cells``          numbers of a table as the words, dates and amounts that its file holds
``markup``         elements of HTML and SVG; all other text is escaped
``axes, figures``  pictures as SVG in the colours of the page, with their text alternatives
``tables``         the tables of the page
``row_explorer``   single rows, as data for the page's script
``page``           all of it in the order of the page; ``page.html``, ``page.css`` and ``page.js``
=================  =================================================================================

The file needs no network, no font and no other file. Its size does not grow with the number of
rows: 200 rows can be looked at, and a picture has at most 400 points. With 500
features of ordinary names it stays below two megabytes.
"""
