"""What data are worth: score, audit (arms, methods, verdict), rank, rows (values), split, outlook, sealed data, sensitivity, the demo."""
