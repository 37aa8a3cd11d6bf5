# O2: puts a file of its own in the place of another
# says: Errno
import os


def double(x):
    with open("mine", "w") as file:
        file.write("mine")
    os.replace("mine", "@SECRET@")
    return 2 * x
