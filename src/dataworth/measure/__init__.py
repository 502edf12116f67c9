"""One pipeline: options, prepare, designs, the one loop, summary; intervals, engines, run directories."""
