def tall(x):
    return x.T
