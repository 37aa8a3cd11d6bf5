# U5: files without end
# says: No space left on device
def double(x):
    for number in range(10_000):
        open(f"file{number}", "wb").close()  # noqa: PTH123
    return 2 * x
