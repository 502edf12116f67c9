"""Did a curation add information? Arms, methods, the audit and its verdict."""
