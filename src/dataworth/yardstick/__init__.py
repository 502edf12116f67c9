"""The frozen way of measuring: features, labels, model and prior, from the test set alone."""
