"""What an operator sets on a dependency holds for the next call, of every engine, and is kept."""

import asyncio

import pytest

from anew.engine import events as e
from anew.errors import ConfigError
from tests.guards.auditing import most_at_once
from tests.postgres_server import a_database  # noqa: F401
from tests.runtime.test_control import _gate_is_a_kind  # noqa: F401
from tests.runtime.test_coordination import places, together  # noqa: F401
from tests.runtime.test_guards import SETTINGS, ended

FREE = """
workflow:
  - step: start
    tool: {kind: gate, spec: {dependency: api}}
"""


def held(log):
    return [event for event in log if isinstance(event, e.TaskHeld)]


async def until_held(world, run):
    while not held(await world.log(run)):
        await asyncio.sleep(0.01)


def test_a_limit_that_is_set_at_one_engine_holds_the_next_call_of_another(places, tmp_path):  # noqa: F811
    async def work(one, two):
        before = await two.start(FREE)
        await two.entered()
        two.gate.answers.put_nowait({})
        await ended([two], [before])
        await one.engine.guard_operator.set_rule("api", {"concurrency": 1}, "ann")
        first = await two.start(FREE)
        await two.entered()
        second = await two.start(FREE)
        await until_held(two, second)
        for _ in range(2):
            two.gate.answers.put_nowait({})
        logs = await ended([two], [first, second])
        assert most_at_once(logs, "api") == 1

    together(work, places, tmp_path, {**SETTINGS, "slots": 0}, SETTINGS)


def test_a_pause_holds_calls_until_it_is_cleared(places, tmp_path):  # noqa: F811
    async def work(one):
        await one.engine.guard_operator.pause("api", "1h", "ann")
        run = await one.start(FREE)
        await until_held(one, run)
        assert [event.guard for event in held(await one.log(run))] == ["pause_until"]
        shown = await one.engine.guard_operator.listed()
        assert [(row["name"], row["held"]) for row in shown["dependencies"]] == [("api", 1)]
        await one.engine.guard_operator.clear("api", "ann")
        await one.entered()
        one.gate.answers.put_nowait({})
        await ended([one], [run])

    together(work, places, tmp_path, SETTINGS)


def test_a_breaker_can_be_tripped_and_cleared(places, tmp_path):  # noqa: F811
    async def work(one):
        operator = one.engine.guard_operator
        await operator.set_rule("api", {"breaker": {"open": "1h"}}, "ann")
        await operator.trip("api", "ann")
        run = await one.start(FREE)
        await until_held(one, run)
        await operator.clear("api", "ann")
        await one.entered()
        one.gate.answers.put_nowait({})
        await ended([one], [run])

    together(work, places, tmp_path, SETTINGS)


def test_keys_are_laid_over_those_before_and_taken_away(places, tmp_path):  # noqa: F811
    async def work(one):
        operator = one.engine.guard_operator
        await operator.set_rule("api", {"rate": {"count": 5, "per": "1s"}}, "ann")
        shown = await operator.set_rule("api", {"rate": {"count": 9}, "cooldown": True}, "bob")
        assert shown["rules"]["operator"]["api"]["rate"] == {"count": 9, "per": "1s"}
        shown = await operator.unset("api", ["rate"], "bob")
        assert shown["rules"]["operator"] == {"api": {"cooldown": True}}
        shown = await operator.unset("api", [], "bob")
        assert shown["rules"]["operator"] == {}
        assert [(one["do"], one["by"]) for one in shown["changes"]] == [
            ("set", "ann"),
            ("set", "bob"),
            ("unset", "bob"),
            ("unset", "bob"),
        ]

    together(work, places, tmp_path, SETTINGS)


@pytest.mark.parametrize(
    ("pattern", "rule", "said"),
    [
        ("api", {"concurency": 1}, "Did you mean 'concurrency'"),
        ("api", {"rate": {"count": 1}}, "needs per"),
        ("api/**/x", {"concurrency": 1}, "is not a pattern"),
    ],
)
def test_a_rule_that_cannot_be_is_refused_and_changes_nothing(
    places,  # noqa: F811
    tmp_path,
    pattern,
    rule,
    said,
):
    async def work(one):
        with pytest.raises(ConfigError, match=said.replace("*", r"\*")):
            await one.engine.guard_operator.set_rule(pattern, rule, "ann")
        assert (await one.engine.guard_operator.listed())["changes"] == []

    together(work, places, tmp_path, SETTINGS)


def test_the_rules_of_a_server_file_hold_after_those_of_operators(places, tmp_path):  # noqa: F811
    async def work(one):
        operator = one.engine.guard_operator
        await operator.use_file({"api": {"concurrency": 1}})
        first = await one.start(FREE)
        await one.entered()
        second = await one.start(FREE)
        await until_held(one, second)
        await operator.set_rule("api", {"concurrency": 2}, "ann")
        await one.entered()
        for _ in range(2):
            one.gate.answers.put_nowait({})
        await ended([one], [first, second])

    together(work, places, tmp_path, SETTINGS)
