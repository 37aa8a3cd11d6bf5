# U3: a pool of processes
# says: PermissionError
import multiprocessing


def double(x):
    process = multiprocessing.get_context("fork").Process(target=print)
    process.start()
    process.join()
    return 2 * x
