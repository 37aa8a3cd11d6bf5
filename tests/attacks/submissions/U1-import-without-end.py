# U1: an import that never ends
# says: took longer than 4 s in the import of your code
while True:
    pass
