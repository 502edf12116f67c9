"""Results for people: text for the terminal, figures for files. No input or output happens here."""
