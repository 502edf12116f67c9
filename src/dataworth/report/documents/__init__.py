"""What a result says: one file a kind of result, and `shared.py` for what several have."""
