# U5: opens files without end
# says: OSError: [Errno 24] Too many open files
def double(x):
    kept = [open("/dev/null") for _ in range(5000)]  # noqa: PTH123, SIM115
    return 2 * x + 0 * len(kept)
