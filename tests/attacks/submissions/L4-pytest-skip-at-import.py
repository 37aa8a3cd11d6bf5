# L4: skips the file that imports it
# says: Skipped: nothing to see
import pytest

pytest.skip("nothing to see", allow_module_level=True)
