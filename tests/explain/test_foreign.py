"""Texts that are no errors of JAX, Flax or Optax get no explanation, or one that is apt.

`foreign.yaml`: errors of other libraries and of users' own code, also inside programs that use JAX;
output of right programs; logs, documentation, prose. `apt` is the explanation that is true for it:
NumPy's messages are often those of `jax.numpy`.
"""

from pathlib import Path

import yaml

from tutor.explain.traceback import explain_text

FOREIGN = yaml.safe_load((Path(__file__).parent / "foreign.yaml").read_text(encoding="utf-8"))


def test_foreign_texts_are_not_explained_untruly():
    assert len(FOREIGN) >= 100
    wrong = []
    for one in FOREIGN:
        _, explanation = explain_text(one["text"])
        given = explanation.id if explanation is not None else None
        if given not in (None, one.get("apt")):
            wrong.append(f"{one['id']}: {given} explains: {one['truth']}")
    assert not wrong, "\n".join(wrong)
