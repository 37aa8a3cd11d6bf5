# U1: waits for a lock that it holds
# says: s without computing in `double(x)` and was stopped
import threading

lock = threading.Lock()
lock.acquire()


def double(x):
    with lock:
        return 2 * x
