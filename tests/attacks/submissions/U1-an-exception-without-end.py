# U1: an exception whose text never comes
# says: took longer than 4 s in `double(x)`
class Endless(Exception):
    def __str__(self):
        while True:
            pass


def double(x):
    raise Endless
