"""What every test shares: a home folder, how hard property tests try, which helpers tell what they
found, and in which order tests run.
"""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests import ordering, suites
from tests.abuse.tally import Tally
from tests.wheels import STOPWATCH

# Lets a failing case of the contract say what it found. Here, before anything imports it.
pytest.register_assert_rewrite("anew.stores.contract")

# No deadline: how long one example takes on a busy machine says nothing about the code.
settings.register_profile(
    "default", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", settings.get_profile("default"), max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

# pip finds what it has downloaded before, whatever the home folder is from here on.
if "XDG_CACHE_HOME" not in os.environ:
    os.environ.setdefault("PIP_CACHE_DIR", os.path.expanduser("~/.cache/pip"))

# A key and what is remembered of credentials are written there, by the processes of tests too.
_HOME = os.environ["HOME"] = tempfile.mkdtemp(prefix="anew-home-")


def pytest_configure(config: pytest.Config) -> None:
    is_worker = hasattr(config, "workerinput")
    if not is_worker and not config.pluginmanager.hasplugin("abuse"):
        config.pluginmanager.register(Tally(), "abuse")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Tests and their modules stay to the end: looking for garbage among them takes half the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Iterator[None]:
    """Before pytest leaves out what `-m` does not ask for; the order is made of what remains."""
    suites.assign(items)
    yield
    processes = getattr(config, "workerinput", {}).get("workercount")
    if processes is not None:
        items[:] = ordering.arranged(items, processes)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What CI shows of the abuse cases (`make abuse-json` has it as JSON), and of times for people."""
    tally = terminalreporter.config.pluginmanager.get_plugin("abuse")
    if tally is not None and tally.cases:
        terminalreporter.write_line(tally.line())
    for report in terminalreporter.getreports("passed"):
        for name, text in report.user_properties:
            if name == STOPWATCH:
                terminalreporter.write_line(f"{report.nodeid}:\n{text}")


def pytest_unconfigure() -> None:
    gc.unfreeze()
    shutil.rmtree(_HOME, ignore_errors=True)
