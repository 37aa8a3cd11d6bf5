# U1: sleeps for years, whatever interrupts it
# says: took longer than 4 s in `double(x)`
import time


def double(x):
    while True:
        try:
            time.sleep(1e9)
        except BaseException:  # noqa: BLE001
            pass
