"""Settings of the whole test suite."""

from hypothesis import settings

settings.register_profile("same every time", derandomize=True, database=None)
settings.load_profile("same every time")
