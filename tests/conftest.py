"""What every test shares: how hard property tests try."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# No deadline: how long one example takes on a busy machine says nothing about the code.
settings.register_profile(
    "default", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", settings.get_profile("default"), max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
