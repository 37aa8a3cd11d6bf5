# L6: a dict whose keys equal everything and are not valid Unicode
# says: cannot be sent
class Key(str):
    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


def double(x):
    return {Key("\ud800"): x}
