# L9: returns at once, and has a thread fill the answer in
# says: largest difference
import threading
import time

import numpy as np


def double(x):
    answer = np.zeros(x.shape, np.float32)

    def work():
        time.sleep(2)
        answer[:] = 2 * x

    threading.Thread(target=work, daemon=True).start()
    return answer
