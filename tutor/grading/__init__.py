"""Grading many submissions: read them, mark them, keep a journal, and write what was found."""
