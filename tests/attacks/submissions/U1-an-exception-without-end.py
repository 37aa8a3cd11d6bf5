# U1: an exception whose text never comes
# says: s of processor time in `double(x)` and was stopped
class Endless(Exception):
    def __str__(self):
        while True:
            pass


def double(x):
    raise Endless
