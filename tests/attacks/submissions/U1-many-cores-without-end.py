# U1: as many endless loops in C as there are threads, at once
# says: s of processor time in `double(x)` and was stopped
import threading
import zlib


def work():
    data = bytes(1 << 20)
    while True:
        zlib.compress(data)


def double(x):
    for _ in range(16):
        threading.Thread(target=work).start()
    work()
