"""Explanations for people who think in PyTorch.

What went wrong becomes a `Symptom`; `explain` looks for the rule that fits it best. Where none
does there is no explanation, rather than a vague one.
"""

from tutor.explain.rulebook import explain
from tutor.explain.symptom import Symptom, of_fault, of_finding

__all__ = ["Symptom", "explain", "of_fault", "of_finding"]
