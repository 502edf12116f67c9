"""People look at the labels that are most likely wrong: a local page, a log of what they say, a spreadsheet.

The list is chosen by one half of the test set (`dataworth.valuation.values.lineage.choosing_half`), and what is
corrected is judged by the other half. Nothing leaves the machine.
"""
