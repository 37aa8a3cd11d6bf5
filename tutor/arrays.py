"""NumPy, imported when it is first used: commands that only read lessons start without it.

`importlib.util.LazyLoader` would put an empty `numpy` into `sys.modules`, where other packages look
for it.
"""

from typing import TYPE_CHECKING, Any, TypeAlias

__all__ = ["Array", "Floats", "np"]

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array: TypeAlias = npt.NDArray[Any]
    Floats: TypeAlias = npt.NDArray[np.float64]
else:
    Array = Floats = Any  # so that `Floats | None` can be written

    class _OnFirstUse:
        def __getattr__(self, name: str) -> Any:
            import numpy

            return getattr(numpy, name)

    np = _OnFirstUse()
