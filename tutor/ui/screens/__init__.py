"""One screen per file, next to its style sheet."""
