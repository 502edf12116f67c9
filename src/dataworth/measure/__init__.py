"""One pipeline: prepare, draw, evaluate, summarise."""
