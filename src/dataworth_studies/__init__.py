"""Studies: reproductions and stories on real data."""
