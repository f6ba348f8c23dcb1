"""The bare names of datasets, whatever other tests have done with them."""

import pytest


@pytest.fixture(autouse=True)
def _registered(registered):
    pass
