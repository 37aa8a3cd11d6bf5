"""Grading of many submissions: reading and matching them, running them, journal and outputs."""
