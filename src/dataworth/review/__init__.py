"""People look at the labels that are most likely wrong: a local page, a log, a spreadsheet.

The list is chosen by one half of the test set (`valuation.values.lineage.choosing_half`), and corrections are
judged by the other half. Nothing leaves the machine.
"""
