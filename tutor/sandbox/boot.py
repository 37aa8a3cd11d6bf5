"""The first thing that runs in a sandbox: protections on, and only then everything else.

Started by `tutor.sandbox.launch`. What it imports must be small and start no thread.
"""

import os

import msgspec
from msgspec import Struct

from tutor.sandbox import isolation, packages


class Job(Struct, frozen=True):
    """What the main process tells a worker on its command line. `requests` and `replies` are the
    descriptors of its two pipes, `parent` is its own process."""

    role: str
    parent: int
    requests: int
    replies: int
    policy: isolation.Policy


def main(job_text: str) -> None:
    job = msgspec.json.decode(job_text, type=Job)
    if os.name == "posix":
        from tutor.sandbox.isolation.posix import die_with_parent

        # Before anything else: one that has ended by now would not be missed later.
        die_with_parent(job.parent)
    protections = isolation.apply(job.policy)
    packages.admit(job.policy.packages)
    from tutor.sandbox.worker import work

    work(job.role, job.requests, job.replies, protections)
