def centred(x):
    return x - x.mean(0)
