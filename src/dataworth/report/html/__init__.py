"""A report as one HTML page that needs nothing else: no request, no library, readable without its script."""
