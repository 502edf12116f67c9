"""Datasets: made, read, compared; which rows are the same, which leak."""
