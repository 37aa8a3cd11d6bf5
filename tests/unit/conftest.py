"""How property tests run here: the same examples every time, and no deadline on a busy machine."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "unit",
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("unit")
