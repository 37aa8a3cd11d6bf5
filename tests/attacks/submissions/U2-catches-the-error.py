# U2: asks again and again, whatever it is told
# says: ran out of memory
def double(x):
    kept = []
    for _ in range(3000):
        try:
            kept.append(bytes(1 << 20))
        except MemoryError:
            kept.append(None)
    if None in kept:
        raise MemoryError
    return 2 * x
