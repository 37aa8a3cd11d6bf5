# U1: an import that never ends
# says: was stopped at line 4: `while True:` | was stopped at line 5: `pass`
# says: s of processor time in the import of your code
while True:
    pass
