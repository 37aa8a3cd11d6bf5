"""One screen to a file, its style sheet beside it."""
