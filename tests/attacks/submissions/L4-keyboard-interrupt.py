# L4: pretends that somebody pressed Ctrl-C
# says: your code ended the process (KeyboardInterrupt)
def double(x):
    raise KeyboardInterrupt
