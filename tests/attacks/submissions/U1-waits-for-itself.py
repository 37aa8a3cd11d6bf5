# U1: waits for a lock that it holds
# says: took longer than 4 s in `double(x)`
import threading

lock = threading.Lock()
lock.acquire()


def double(x):
    with lock:
        return 2 * x
