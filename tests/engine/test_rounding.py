"""The instrument that compares PyTorch in float32 with float64."""

from unittest.mock import patch

from tests.engine.conftest import Written
from tests.engine.rounding import study
from tutor.sandbox import reference


def test_cases_in_which_rounding_exceeds_the_tolerance_are_found(written: Written):
    lesson = written(
        torch="import torch\n\ndef double(x):\n    return 2 * x\n\n"
        "def cancelling(x):\n    return (1e4 + x.float()) - 1e4\n",
        checks=[
            {"name": "sound", "value": "double(x)"},
            {"name": "cancelling", "value": "double(x)", "expect": "cancelling(x)"},
        ],
    )
    with patch.object(reference, "timed", lambda action, *, steady=True: (action(), 0.0)):
        seeds, found = study(lesson, 3, 60.0)
    assert seeds == 3
    assert (found["sound"].cases, found["sound"].beyond) == (9, 0)
    assert found["cancelling"].beyond == found["cancelling"].cases == 9
