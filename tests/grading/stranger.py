"""Loaded into a worker of a test's cluster: it has another jaxtutor, or says so."""

from tutor.grading import cluster_worker as worker

_versions = worker.versions
worker.versions = lambda: {**_versions(), "jaxtutor": "0.0.0"}
