"""Settings of the whole test suite.

The Hugging Face libraries are offline, quiet, and have a home of their own. They read these
settings when they are first imported, so they are set before any test is.
"""

import atexit
import os
import shutil
import tempfile

import pytest
from hypothesis import settings

_home = tempfile.mkdtemp(prefix="hf-home-")
atexit.register(shutil.rmtree, _home, ignore_errors=True)
os.environ.update(
    HF_HOME=_home,
    HF_HUB_OFFLINE="1",
    HF_EVALUATE_OFFLINE="1",
    HF_HUB_DISABLE_TELEMETRY="1",
    HF_DATASETS_DISABLE_PROGRESS_BARS="1",
    GRADIO_ANALYTICS_ENABLED="False",
)

settings.register_profile("same every time", derandomize=True, database=None)
settings.load_profile("same every time")


@pytest.fixture
def registered():
    """The bare names, as `import timevista_hf` leaves them; and so again after the test."""
    from timevista_hf.loading.names import register_names

    register_names()
    yield
    register_names()
