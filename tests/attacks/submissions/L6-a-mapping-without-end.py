# L6: a dict that has no end
# says: double(x)
from collections.abc import Mapping


class Endless(Mapping):
    def __getitem__(self, key):
        return 0

    def __len__(self):
        return 1

    def __iter__(self):
        while True:
            yield "key"


def double(x):
    return Endless()
