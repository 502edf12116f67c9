"""Results for people: text for the terminal, figures for files; no input or output happens here."""
