"""Explanations of mistakes for PyTorch developers.

A failure becomes a `Symptom`; `explain` finds the rule that matches it best. If none does, there is
no explanation, rather than a vague one; `contracts_for` says what the functions need in which the
error arose.
"""

from tutor.explain.contracts import contracts_for
from tutor.explain.rulebook import explain
from tutor.explain.symptom import Symptom, of_fault, of_finding

__all__ = ["Symptom", "contracts_for", "explain", "of_fault", "of_finding"]
