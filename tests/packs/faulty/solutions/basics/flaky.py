def last(k):
    return 1
