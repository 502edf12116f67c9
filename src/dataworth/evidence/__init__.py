"""The evidence of one pair (`dw.pmi`), the forms in which its score can be written, its parts, the referee."""
