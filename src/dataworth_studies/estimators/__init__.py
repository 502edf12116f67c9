"""Estimators of the mutual information between datasets, one a file."""
