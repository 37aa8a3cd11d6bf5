# U5: one large file
# says: OSError: [Errno 2
def double(x):
    with open("file", "wb") as file:  # noqa: PTH123
        for _ in range(256):
            file.write(bytes(1 << 20))
    return 2 * x
