"""What is said of findings, sentence by sentence; the terminal and the page say the same.

``sections`` lists all of it: ``in_short`` has the result, ``cautions`` what to mistrust
(``about_belonging``: rows that are not independent), and ``next_steps`` what to do.
"""
