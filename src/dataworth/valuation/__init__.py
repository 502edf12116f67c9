"""What data are worth: score, audit, rank, values of rows, split, outlook, sealed data, sensitivity, demo."""
