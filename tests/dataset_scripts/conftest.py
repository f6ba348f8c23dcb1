"""The Hugging Face libraries, offline, quiet, and with a home of their own.

They read these settings when they are first imported, so they are set before any test is.
"""

import atexit
import os
import shutil
import tempfile

import pytest

_home = tempfile.mkdtemp(prefix="hf-home-")
atexit.register(shutil.rmtree, _home, ignore_errors=True)
os.environ.update(
    HF_HOME=_home,
    HF_HUB_OFFLINE="1",
    HF_HUB_DISABLE_TELEMETRY="1",
    HF_DATASETS_DISABLE_PROGRESS_BARS="1",
)


@pytest.fixture(autouse=True)
def _registered():
    """The bare names resolve, in whatever order the tests run."""
    from timevista_hf._names import register_names

    register_names()
