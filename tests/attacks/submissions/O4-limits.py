# O4: sets the limits of another process
# says: PermissionError
import resource


def double(x):
    resource.prlimit(@SIBLING@, resource.RLIMIT_CPU, resource.prlimit(@SIBLING@, resource.RLIMIT_CPU))
    return 2 * x
