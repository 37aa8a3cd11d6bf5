# U5: file after file
# says: OSError: [Errno 28] No space left on device | wrote more than 64 MiB
def double(x):
    for number in range(10):
        with open(f"file{number}", "wb") as file:  # noqa: PTH123
            for _ in range(32):
                file.write(bytes(1 << 20))
    return 2 * x
