"""Sandboxes kept warm, forked on demand, and given compiled programs."""
