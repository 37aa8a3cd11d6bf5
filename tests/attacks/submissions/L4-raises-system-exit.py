# L4: raise SystemExit
# says: your code ended the process
def double(x):
    raise SystemExit
