# U1: while True
# says: took longer than 4 s in `double(x)`
def double(x):
    while True:
        pass
