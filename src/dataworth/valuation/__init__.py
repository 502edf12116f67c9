"""What data are worth: score, audit, rank, and what they rest on."""
