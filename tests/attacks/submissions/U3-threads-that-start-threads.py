# U3: threads that start threads
# says: thread
import threading
import time

threading.stack_size(64 << 10)
started = []


def grow():
    for _ in range(2):
        if len(started) < 2000:
            try:
                threading.Thread(target=grow, daemon=True).start()
            except RuntimeError:
                break
            started.append(1)
    time.sleep(60)


def double(x):
    threading.Thread(target=grow, daemon=True).start()
    before = -1
    while before != len(started):
        before = len(started)
        time.sleep(0.3)
    if before < 2000:
        raise RuntimeError("no more threads")
    return 2 * x
