"""What every test shares: a home folder, how hard property tests try, and which helpers tell what
they found.
"""

from __future__ import annotations

import os
import shutil
import tempfile

import pytest
from hypothesis import HealthCheck, settings

from tests import suites
from tests.abuse.tally import Tally

# Lets a failing case of the contract say what it found. Here, before anything imports it.
pytest.register_assert_rewrite("anew.stores.contract")

# No deadline: how long one example takes on a busy machine says nothing about the code.
settings.register_profile(
    "default", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", settings.get_profile("default"), max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

# A key and what is remembered of credentials are written there, by the processes of tests too.
_HOME = os.environ["HOME"] = tempfile.mkdtemp(prefix="anew-home-")


def pytest_configure(config: pytest.Config) -> None:
    is_worker = hasattr(config, "workerinput")
    if not is_worker and not config.pluginmanager.hasplugin("abuse"):
        config.pluginmanager.register(Tally(), "abuse")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Before pytest leaves out what `-m` does not ask for."""
    suites.assign(items)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What CI shows of the abuse cases; `make abuse-json` has it as JSON."""
    tally = terminalreporter.config.pluginmanager.get_plugin("abuse")
    if tally is not None and tally.cases:
        terminalreporter.write_line(tally.line())


def pytest_unconfigure() -> None:
    shutil.rmtree(_HOME, ignore_errors=True)
