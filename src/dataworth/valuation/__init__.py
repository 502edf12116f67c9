"""What data are worth: score, audit, rank, values, contributions, forecast, sealed data, sensitivity."""
