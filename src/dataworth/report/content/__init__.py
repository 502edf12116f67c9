"""What a report says of each kind of result: one file a kind, and `shared.py` for what all have."""
