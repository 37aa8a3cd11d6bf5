# U4: prints gigabytes
# says: printed more than 64 KiB
def double(x):
    for _ in range(2000):
        print("y" * (1 << 20))
    return 2 * x
