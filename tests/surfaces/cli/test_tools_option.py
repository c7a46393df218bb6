"""`--tools MODULE`: every command that compiles or executes a document knows what the module brings."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from anew.program.kinds import MODULE_KINDS, installed_kinds
from anew.surfaces.cli.processes import mapped
from anew.tools import modules
from tests.surfaces.cli.servers import TOKEN, server, worker
from tests.surfaces.cli.terminals import Desk, a_desk  # noqa: F401

SHOP = """
from anew import tool

@tool
def charge(order: str) -> dict:
    return {"charged": order}
"""
FLOW = """
metadata: {name: shop}
workflow:
  - step: pay
    tool: {kind: charge, order: "{{ workload.order | default('A-1') }}"}
"""
SCENARIO = """
outcomes: {pay: [{result: {charged: A-1}}]}
expect: {status: done, result: {charged: A-1}}
"""
MODULE = "shop_of_commands"


@pytest.fixture(autouse=True)
def _forgotten(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(modules, "_loaded", {})
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    MODULE_KINDS.clear()
    sys.modules.pop(MODULE, None)


@pytest.fixture(name="shop")
def a_folder_with_a_module(desk: Desk) -> Desk:
    desk.write(f"{MODULE}.py", SHOP)
    desk.write("flow.yaml", FLOW)
    desk.write("flow.scenario.yaml", SCENARIO)
    return desk


@pytest.mark.parametrize("words", [("check", "flow.yaml"), ("simulate", "flow.yaml"), ("test",)])
def test_documents_are_checked_and_played_with_the_module(
    shop: Desk, words: tuple[str, ...]
) -> None:
    refused = shop.call(*words)
    assert refused.status == 2
    assert "'charge' is unknown" in refused.out + refused.err
    accepted = shop.call(*words, "--tools", MODULE)
    assert accepted.status == 0, accepted.err


def test_a_variable_names_modules_for_every_command(
    shop: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANEW_TOOLS", f"{MODULE}, ")
    assert shop.call("graph", "flow.yaml").status == 0


def test_a_module_that_is_not_there_ends_the_command_with_its_name(shop: Desk) -> None:
    told = shop.call("worker", "--db", "postgresql://nowhere/x", "--tools", "shop_elsewhere")
    assert told.status == 2
    assert told.err.startswith("anew: --tools shop_elsewhere: there is no module 'shop_elsewhere'")


def test_a_run_continues_where_the_module_is_and_says_its_name_where_it_is_not(shop: Desk) -> None:
    done = shop.open("run", "flow.yaml", "--tools", MODULE, "--json").wait()
    assert (done.status, done.json["result"]) == (0, {"charged": "A-1"}), done.err
    assert shop.open("run", "flow.yaml", "--tools", MODULE, "--quiet").wait().status == 0
    again = shop.open("retry", "last", "--from", "pay", "--quiet").wait()
    assert again.status == 2
    assert f"'charge' of the module '{MODULE}'" in again.err
    assert f"`--tools {MODULE}`" in again.err
    assert shop.open("retry", "last", "--from", "pay", "--tools", MODULE).wait().status == 0


def test_a_worker_without_the_module_names_it_and_leaves_the_run_to_one_that_has_it(
    shop: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setenv("ANEW_TOKEN", TOKEN)
    with server(shop.folder, "--no-workers", "--tools", MODULE) as serving:
        monkeypatch.setenv("ANEW_SERVER", serving.url)
        bare = tmp_path_factory.mktemp("bare")
        with worker(bare) as without:
            terminal = shop.open("run", "flow.yaml", "--tools", MODULE, "--json")
            without.said(f"'charge' of the module '{MODULE}'. Start it with `--tools {MODULE}`")
        with worker(shop.folder, "--tools", MODULE, "--processes", "2"):
            told = terminal.wait()
    assert (told.status, told.json["result"]) == (0, {"charged": "A-1"}), told.err


def kinds_there(_: None) -> Callable[[str], bool]:
    return lambda kind: kind in installed_kinds()


def test_processes_that_share_the_work_know_the_module(
    shop: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shop.folder)
    modules.load_tools(MODULE)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[3]))
    assert list(mapped(kinds_there, None, batches=["charge", "other"], processes=1)) == [
        True,
        False,
    ]
