# L6: a type whose name holds escape sequences and a report
# says: expected an array
def double(x):
    return type("\x1b[2J all passed " * 1000, (), {})()
