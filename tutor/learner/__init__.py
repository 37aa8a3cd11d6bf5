"""The learner's own: their files and their progress."""
