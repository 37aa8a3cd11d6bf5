"""Files of our own on this machine: where they are, atomic writes, the cache, the log."""
