# U2: a list that grows without end
# says: ran out of memory
def double(x):
    kept = []
    while len(kept) < 300:
        kept.append(bytes(10_000_000))
    return 2 * x
