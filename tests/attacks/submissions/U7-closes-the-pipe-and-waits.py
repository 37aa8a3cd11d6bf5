# U7: closes every descriptor and stays
# says: the pipe for answers
import os
import time


def double(x):
    os.closerange(0, 512)
    time.sleep(60)
