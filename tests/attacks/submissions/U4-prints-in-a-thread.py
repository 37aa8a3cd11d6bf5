# U4: prints in a thread while it answers
# says: printed more than 64 KiB
import threading
import time


def work():
    while True:
        print("y" * 65536)


def double(x):
    threading.Thread(target=work, daemon=True).start()
    time.sleep(2)
    return 2 * x
