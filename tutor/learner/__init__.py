"""The learner's files and progress."""
