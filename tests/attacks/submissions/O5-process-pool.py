# O5: starts a pool of processes
# says: PermissionError
import concurrent.futures


def double(x):
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        assert pool.submit(abs, -1).result() == 1
    return 2 * x
