"""Benchmarks: modules that measure and return raw samples, in seconds."""
