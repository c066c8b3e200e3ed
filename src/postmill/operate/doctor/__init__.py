"""`postmill doctor`: what a tired operator would look at, in one round, each line with what to do.

`examine.examine(probe)` makes a report; each check has a place in the file that is called after what it looks at.
"""
