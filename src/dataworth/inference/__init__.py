"""Numerics on plain arrays: numpy and scipy only, no Dataset, no files, no global state."""
