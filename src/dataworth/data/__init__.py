"""Datasets: made, read from files, compared row by row; leaked rows."""
