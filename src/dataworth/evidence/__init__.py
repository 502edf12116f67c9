"""The evidence of one pair (`dw.pmi`), the forms of its score, its parts, the referee."""
