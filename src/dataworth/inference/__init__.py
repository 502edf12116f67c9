"""Numerics on plain arrays: modes, EP, Gaussian algebra, sampling."""
