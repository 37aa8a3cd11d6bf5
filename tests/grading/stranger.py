"""Loaded into a worker of a test's cluster: it has another jaxtutor, or says so."""

from tutor.grading import cluster

_versions = cluster.versions
cluster.versions = lambda: {**_versions(), "jaxtutor": "0.0.0"}
