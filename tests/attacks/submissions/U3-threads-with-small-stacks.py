# U3: threads without end, each of them small
# says: thread
import threading
import time

threading.stack_size(64 << 10)


def double(x):
    for _ in range(2000):
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    return 2 * x
