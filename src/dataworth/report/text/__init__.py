"""Results as text for a terminal: a sentence first, then the numbers it rests on. One kind of result a file.

Each has `line`, the result in one line, and `full`, all of it. What they share is in `layout.py` (how it
looks) and `common.py` (what it says at its end).
"""
