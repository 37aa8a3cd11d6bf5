# U1: while True
# says: s of processor time in `double(x)` and was stopped
def double(x):
    while True:
        pass
