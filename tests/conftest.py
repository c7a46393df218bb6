"""What every test shares: how hard property tests try, and which helpers tell what they found."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

# Lets a failing case of the contract say what it found. Here, before anything imports it.
pytest.register_assert_rewrite("anew.stores.contract")

# No deadline: how long one example takes on a busy machine says nothing about the code.
settings.register_profile(
    "default", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", settings.get_profile("default"), max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
