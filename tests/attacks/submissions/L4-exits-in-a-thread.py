# L4: os._exit(0) from a thread, between two questions
# says: your code ended the process
import os
import threading
import time


def double(x):
    threading.Thread(target=lambda: os._exit(0)).start()
    time.sleep(1)
    return 2 * x
