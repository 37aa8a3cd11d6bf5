"""Fixed limits of every sandbox. The limits that a lesson sets are in `tutor.lesson.Limits`.

`allowance` meters time; `watchdog` and `cgroup` memory and threads; `private_folder` the disk;
`isolation.posix` sets the resource limits of the process. `wire` caps the size of messages.
"""

MAX_IDLE_SECONDS = 30.0
"""Longest a submission may wait without computing, whatever its limit on processor time."""

WALL_FACTOR = 10
WALL_EXTRA_SECONDS = 60.0
"""The wall-clock limit is `WALL_FACTOR` times the limit on processor time, and at least
`WALL_EXTRA_SECONDS` more than it."""

START_SECONDS = 120.0
"""Processor time for a worker to import its libraries, and idle time while they are read from disk.
Generous, because a worker that does not start is jaxtutor's failure."""

ZYGOTE_IMPORT_SECONDS = 300.0
FORK_SECONDS = 60.0
"""Timeouts for a zygote to import, and to fork. Far more than either takes on a busy
machine: a worker without a zygote imports the libraries itself, which takes longer still."""

EXIT_SECONDS = 1.0
"""Time for a worker to exit after it closed its pipe, metered like a run's."""

STACKS_SECONDS = 5.0
"""Timeout for the stacks of a worker that gets no processor time."""

OPEN_FILES = 512

ADDRESS_SPACE_GB = 64
"""Far above honest use. Page tables cost memory that no other limit counts."""

KEPT_OUTPUT = 32 << 10
"""Bytes kept from the start of the output, and from its end."""

MAX_LEFTOVER_OUTPUT = 1 << 20
"""Bytes to read from the standard error of a stopped worker."""

MAX_ANSWER = 64 << 20
"""Bytes of one array that a worker may send back."""
