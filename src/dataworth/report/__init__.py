"""Results for people: text for the terminal, figures, and reports as pages, Markdown and JSON."""
