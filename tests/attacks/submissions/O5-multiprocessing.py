# O5: starts a process of multiprocessing
# says: PermissionError
import multiprocessing


def double(x):
    child = multiprocessing.get_context("fork").Process(target=print)
    child.start()
    child.join()
    return 2 * x
