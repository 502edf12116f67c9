"""The evidence of one pair, and the forms in which its score can be written."""
