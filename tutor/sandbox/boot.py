"""The first module to run in a sandbox: it applies the protections, then starts the worker.

Its imports must be small and start no thread.
"""

import os

import msgspec
from msgspec import Struct

from tutor.sandbox import isolation, packages


class Job(Struct, frozen=True):
    """A worker's command line. `requests` and `replies` are the descriptors of its pipes, `parent`
    is the main process."""

    role: str
    parent: int
    requests: int
    replies: int
    policy: isolation.Policy


def main(job_text: str) -> None:
    """Run a worker."""
    job = msgspec.json.decode(job_text, type=Job)
    if os.name == "posix":
        from tutor.sandbox.isolation.posix import die_with_parent

        # First: the end of a parent that is already gone would not be noticed later.
        die_with_parent(job.parent)
    protections = isolation.apply(job.policy)
    packages.admit(job.policy.packages)
    from tutor.sandbox.calls import drive
    from tutor.sandbox.worker import work

    drive(work(job.role, job.requests, job.replies, protections))
