# U1: sleeps for years, whatever interrupts it
# says: s without computing in `double(x)` and was stopped
import time


def double(x):
    while True:
        try:
            time.sleep(1e9)
        except BaseException:  # noqa: BLE001
            pass
