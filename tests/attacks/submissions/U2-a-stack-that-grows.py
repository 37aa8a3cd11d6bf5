# U2: memory on the stacks of threads
# says: thread
import threading

threading.stack_size(512 << 20)


def double(x):
    done = threading.Event()
    threads = [threading.Thread(target=done.wait) for _ in range(100)]
    try:
        for thread in threads:
            thread.start()
    finally:
        done.set()
    return 2 * x
