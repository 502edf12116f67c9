"""Which rows, which sources: values of rows by removals, of sources by refits; the trust in each label."""
