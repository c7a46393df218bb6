"""Kinds that Python modules bring: found in them, checked, called, and refused in words."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import msgspec
import pytest

from anew import lab
from anew.engine.outcome import Outcome
from anew.errors import ConfigError, ProgramError
from anew.program.kinds import MODULE_KINDS, installed_kinds, kind_named
from anew.runtime.toolbox import Toolbox
from anew.tool import AttemptRef, Call, Timeout, ToolKind, tool
from anew.tools import modules
from anew.tools.function import kind_of_function
from anew.tools.modules import load_tools, loaded_tools, tool_kinds

SHOP = '''
from anew import tool
from anew.tool import ToolKind
from anew.tools.noop import NoopTool

@tool
def charge(order: str, amount: float = 1.0) -> dict:
    """Charge an order."""
    return {"order": order, "amount": amount}

@tool(name="shop.note")
async def note(text):
    return text

NOTHING = ToolKind("nothing", NoopTool, inputs={"reason": "Why not."}, required=["reason"])

def not_a_tool():
    return None
'''


@pytest.fixture(autouse=True)
def _forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Modules are looked for in a folder of the test, and no test sees those of another."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(modules, "_loaded", {})
    yield
    MODULE_KINDS.clear()
    for name in ("shop_of_test", "other_of_test", "broken_of_test"):
        sys.modules.pop(name, None)


def written(text: str, name: str = "shop_of_test") -> str:
    Path(f"{name}.py").write_text(text)
    return name


def outcome(kind: ToolKind, **inputs: object) -> Outcome:
    call = Call(
        kind=kind.name,
        inputs=inputs,
        place=AttemptRef("1", "step", 1, None, "task", 1),
        idempotency_key="key of the visit",
        asked_at=0,
        timeout=Timeout(),
        folder=Path(),
        scratch=Path(),
    )
    return asyncio.run(kind.make().call(call))  # type: ignore[arg-type,return-value]


def test_a_module_brings_what_is_decorated_and_what_is_a_kind() -> None:
    name = written(SHOP)
    assert load_tools(name) == load_tools(name) == name
    assert loaded_tools() == [name]
    assert set(MODULE_KINDS) == {"charge", "shop.note", "nothing"} <= installed_kinds()
    charge = kind_named("charge")
    assert (charge.title, list(charge.inputs), charge.required) == (
        "Charge an order.",
        ["order", "amount"],
        (("order",),),
    )
    assert charge.tool == "shop_of_test:charge"
    assert tool_kinds(sys.modules[name].charge)["charge"].place == charge.tool
    made = ToolKind("charge", lambda: Toolbox().get("charge"))
    assert outcome(made, order="A").result == {"order": "A", "amount": 1.0}


def test_one_tool_of_a_module_may_be_named() -> None:
    load_tools(f"{written(SHOP)}:note")
    assert list(MODULE_KINDS) == ["shop.note"]


def test_a_check_knows_the_arguments_of_a_function() -> None:
    load_tools(written(SHOP))
    with pytest.raises(ProgramError, match="needs `order`"):
        lab.load_text("workflow: [{step: a, tool: {kind: charge}}]", "p.yaml")
    with pytest.raises(ProgramError, match="needs `reason`"):
        lab.load_text("workflow: [{step: a, tool: {kind: nothing}}]", "p.yaml")


@pytest.mark.parametrize(
    ("named", "text", "problem"),
    [
        ("nowhere_of_test", "", "there is no module 'nowhere_of_test' in /"),
        ("shop_of_test.more", SHOP, "there is no module 'shop_of_test.more'"),
        ("shop_of_test:chrge", SHOP, "no tool 'chrge'. Did you mean 'charge'?"),
        ("shop_of_test:zzz", SHOP, "It has charge, note, NOTHING."),
        ("shop_of_test", "def charge(): ...", "Decorate a function with `@tool`"),
        ("shop_of_test", "import lacking_of_test", "needs 'lacking_of_test', which is not"),
        ("shop_of_test", "1 / 0", "cannot be imported: ZeroDivisionError"),
        ("shop_of_test", SHOP.replace("shop.note", "http"), "'http' is a kind of Anew's own"),
        ("shop_of_test", SHOP.replace("text)", "text, /)"), "which has no name for a task"),
        ("shop_of_test", SHOP.replace("float", '"flaot"'), "cannot be read: name 'flaot'"),
    ],
)
def test_what_is_wrong_with_a_module_is_said_with_its_name(
    named: str, text: str, problem: str
) -> None:
    written(text)
    with pytest.raises(ConfigError) as refused:
        load_tools(named)
    assert str(refused.value).startswith(f"--tools {named.partition(':')[0]}")
    assert problem in str(refused.value)


def test_two_modules_cannot_bring_one_kind() -> None:
    load_tools(written(SHOP))
    with pytest.raises(ConfigError, match="other_of_test:charge and shop_of_test:charge both"):
        load_tools(written(SHOP, "other_of_test"))


# --- functions -----------------------------------------------------------------------------------


@dataclass
class Order:
    id: str
    at: datetime


class Receipt(msgspec.Struct):
    order: str
    year: int


def test_inputs_and_result_are_of_the_annotated_types() -> None:
    @tool
    def pay(order: Order, call: Call, tip: float | None = None) -> Receipt:
        return Receipt(f"{order.id} {call.idempotency_key} {tip}", order.at.year)

    told = outcome(kind_of_function(pay), order={"id": "A", "at": "2030-01-31T00:00:00Z"})
    assert told.result == {"order": "A key of the visit None", "year": 2030}
    with pytest.raises(AttributeError):  # it can be called as any function
        pay(Order("B", datetime(2031, 1, 1)), None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("inputs", "problem"),
    [
        ({}, "pay needs the input 'order', which the task does not give"),
        ({"order": "A", "oder": 1}, "pay has no input 'oder'; it takes order, amount"),
        ({"order": 7}, "the input 'order' of pay does not fit str"),
    ],
)
def test_inputs_that_do_not_fit_are_said_by_name(inputs: dict, problem: str) -> None:
    def pay(order: str, amount: int = 1) -> None: ...

    with pytest.raises(ConfigError, match=problem):
        outcome(kind_of_function(pay), **inputs)


def test_a_function_with_more_keywords_takes_any_input() -> None:
    kind = kind_of_function(lambda **rest: rest, "any")
    assert kind.inputs is None
    assert outcome(kind, a=1, idempotency_key="k").result == {"a": 1, "idempotency_key": "k"}
    assert outcome(kind_of_function(lambda: 1, "none"), idempotency_key="k").result == 1


def test_what_a_function_returns_must_be_json() -> None:
    def odd() -> object:
        return object()

    with pytest.raises(ConfigError, match="what odd returned cannot be written as JSON"):
        outcome(kind_of_function(odd))


def test_tools_are_given_in_many_ways() -> None:
    def charge(order: str) -> str:
        return order

    class Ready:
        async def call(self, call: Call) -> Outcome:
            raise NotImplementedError

        async def close(self) -> None: ...

    ready = Ready()
    assert list(tool_kinds(charge)) == list(tool_kinds([charge])) == ["charge"]
    assert list(tool_kinds({"pay": charge, "own": ready})) == ["pay", "own"]
    assert tool_kinds({"own": ready})["own"].make() is ready
    assert "charge" in tool_kinds(written(SHOP))
    assert "charge" in tool_kinds([sys.modules["shop_of_test"], "shop_of_test:note"])
    assert MODULE_KINDS == {}  # what a program gives is known to its engine only
    for wrong in (3, {"pay": 3}):
        with pytest.raises(ConfigError, match=r"is (not|neither) a tool"):
            tool_kinds(wrong)


def test_the_lab_checks_a_document_with_the_tools_of_its_caller() -> None:
    def charge(order: str) -> str:
        return order

    text = "workflow: [{step: a, tool: {kind: charge, order: A}}]"
    Path("p.yaml").write_text(text)
    played = lab.play(lab.load("p.yaml", tools=[charge]), outcomes={"a": [lab.ok("A")]})
    played.expect(status="done", result="A")
    with pytest.raises(ProgramError, match="needs `order`"):
        lab.load_text(text.replace(", order: A", ""), "p.yaml", tools=charge)
    with pytest.raises(ProgramError, match="'charge' is unknown"):
        lab.load("p.yaml")
