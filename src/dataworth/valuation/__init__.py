"""What data are worth: score, audit (arms, methods, verdict), rank, sealed data, sensitivity, the demo."""
