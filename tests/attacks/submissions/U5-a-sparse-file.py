# U5: a file of a tebibyte that takes no room
# says: OSError: [Errno 27] File too large
def double(x):
    with open("file", "wb") as file:  # noqa: PTH123
        file.truncate(1 << 40)
    return 2 * x
