"""Explanations of mistakes for PyTorch developers.

A failure becomes a `Symptom`; `explain` finds the rule that matches it best. If none does, there is
no explanation, rather than a vague one.
"""

from tutor.explain.rulebook import explain
from tutor.explain.symptom import Symptom, of_fault, of_finding

__all__ = ["Symptom", "explain", "of_fault", "of_finding"]
