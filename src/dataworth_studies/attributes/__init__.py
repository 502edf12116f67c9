"""Attributes that say nothing of the label, put into images by code: which of two, row by row.

Each function takes uint8 images (n×h×w or n×h×w×3) and one of two values for each, and returns n×h×w×3.
"""

from .colour import colour_background
from .corruption import corrupt
from .style import stylise

__all__ = ["colour_background", "corrupt", "stylise"]
