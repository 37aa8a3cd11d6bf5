# U3: threads without end
# says: thread
import threading
import time


def double(x):
    for _ in range(2000):
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    return 2 * x
