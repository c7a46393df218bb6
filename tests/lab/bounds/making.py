"""Small playbooks and graphs whose conditions can take any value, made by hypothesis.

Every rule and arc asks for a number that the outcome carries, so that the explorer can let each of
them hold or not.
"""

from __future__ import annotations

import json

from hypothesis import strategies as st

from anew.lab.outcome_sources import ExecutionStart
from anew.languages import load_text
from anew.program.findings import Severity
from anew.program.program import Program
from anew.program.retry import BackoffKind
from tests.lab.bounds.exploring import Options

TIMEOUT = 2.0


def program_of(document: object, name: str = "flow.yaml") -> Program:
    text = document if isinstance(document, str) else json.dumps(document)
    loaded = load_text(text, name)
    errors = [found for found in loaded.findings if found.severity is Severity.ERROR]
    assert not errors, (errors, text)
    assert loaded.program is not None
    return loaded.program


@st.composite
def retries(draw: st.DrawFn, *, with_elapsed: bool = False) -> dict[str, object]:
    then: dict[str, object] = {"do": "retry", "attempts": draw(st.integers(1, 3))}
    then["backoff"] = draw(st.sampled_from([kind.value for kind in BackoffKind]))
    then["delay"] = draw(st.sampled_from([0.5, 1, 4]))
    caps: list[object] = [1, 3, 9, *(["{{ outcome.result.pick }}"] if with_elapsed else [])]
    if draw(st.booleans()):
        then["max_delay"] = draw(st.sampled_from(caps))
    jitter = draw(st.sampled_from([None, True, 0.25, "full", "equal", "decorrelated"]))
    if jitter is not None:
        then["jitter"] = jitter
    if with_elapsed and draw(st.booleans()):
        then["max_elapsed"] = draw(st.sampled_from([0, 1, 3, 10]))
    return then


@st.composite
def tasks(
    draw: st.DrawFn,
    label: str,
    later: list[str],
    *,
    with_elapsed: bool = False,
    can_pass: bool = False,
) -> dict[str, object]:
    others: list[dict[str, object]] = [{"do": "continue"}, {"do": "break"}, {"do": "fail"}]
    others += [{"do": "jump", "to": to, "delay": draw(st.sampled_from([0, 2]))} for to in later]
    rules: list[dict[str, object]] = []
    for number in range(draw(st.integers(0, 2))):
        then = draw(st.one_of(retries(with_elapsed=with_elapsed), st.sampled_from(others)))
        when = f"outcome.result.pick == {number + 1}"
        if draw(st.booleans()):
            when = f"outcome.status == 'error' and {when}"
        rules.append({"when": "{{ " + when + " }}", "then": then})
    if draw(st.booleans()):
        then = {"do": "continue"} if can_pass else draw(st.sampled_from(others))
        rules.append({"else": {"then": then}})
    policy: dict[str, object] = {"rules": rules}
    if draw(st.booleans()):
        policy["on_unmatched"] = "fail"
    spec: dict[str, object] = {"timeout": TIMEOUT}
    if rules:
        spec["policy"] = policy
    return {label: {"kind": "http", "url": "http://x", "spec": spec}}


@st.composite
def arcs(draw: st.DrawFn, later: list[str], *, of_loop: bool) -> dict[str, object]:
    found: list[dict[str, object]] = []
    for number, to in enumerate(draw(st.permutations(later))[: draw(st.integers(0, 2))], 1):
        held = [number, 3]  # each of two arcs by itself, or both
        way = f"(event.result.way in {held} or event.error.way in {held})"
        conditions = [None, way, f"event.name == 'step.done' and {way}"]
        if of_loop:  # nothing of what its iterations gave is free for its arcs to ask
            conditions = [None, "event.failed > 0", "event.failed == 0"]
        when = draw(st.sampled_from([*conditions, "event.name == 'step.failed'"]))
        found.append({"step": to} if when is None else {"step": to, "when": "{{ " + when + " }}"})
    return {"spec": {"mode": draw(st.sampled_from(["exclusive", "inclusive"]))}, "arcs": found}


@st.composite
def playbooks(draw: st.DrawFn, *, with_elapsed: bool = False) -> dict[str, object]:
    names = ["one", "two", "three"][: draw(st.integers(1, 3))]
    steps: list[dict[str, object]] = []
    for number, name in enumerate(names):
        labels = ["a", "b"][: draw(st.integers(1, 2))]
        step: dict[str, object] = {
            "step": name,
            "tool": [
                draw(tasks(label, labels[at + 1 :], with_elapsed=with_elapsed))
                for at, label in enumerate(labels)
            ],
        }
        if len(names) < 3 and draw(st.integers(0, 3)) == 0:
            mode = draw(st.sampled_from(["sequential", "parallel"]))
            spec: dict[str, object] = {"mode": mode}
            if mode == "parallel":
                spec["max_in_flight"] = draw(st.integers(1, 2))
            items = list(range(draw(st.integers(0, 2))))
            step["loop"] = {"in": items, "iterator": "it", "spec": spec}
        if names[number + 1 :]:
            step["next"] = draw(arcs(names[number + 1 :], of_loop="loop" in step))
        if with_elapsed and draw(st.booleans()):
            step["spec"] = {"policy": {"lifecycle": {"timeout_s": draw(st.sampled_from([1, 5]))}}}
        steps.append(step)
    found: dict[str, object] = {"metadata": {"name": "made"}, "workflow": steps}
    if with_elapsed and draw(st.booleans()):
        found["executor"] = {"spec": {"limits": {"loop_iterations": 1}}}
    return found


@st.composite
def tangles(draw: st.DrawFn) -> dict[str, object]:
    """Steps that lead to any others, by one arc or by several at once."""
    names = ["one", "two", "three"]
    steps = [
        {
            "step": name,
            "tool": [draw(tasks("a", []))] if draw(st.booleans()) else {"kind": "noop"},
            "next": draw(arcs(names, of_loop=False)),
        }
        for name in names
    ]
    limits = {"visits_per_step": draw(st.integers(1, 2))}
    first = draw(st.sampled_from(names))
    executor = {"spec": {"entry_step": first, "limits": limits}}
    return {"metadata": {"name": "made"}, "executor": executor, "workflow": steps}


def answers(document: object, takes: tuple[float, ...]) -> Options:
    """Every outcome a made document can tell apart, taking each of these times."""
    text = json.dumps(document)
    picks = [pick for pick in range(3) if not pick or f"pick == {pick}" in text]
    ways = range(4) if "way in [2" in text else (0, 1) if "way in [1" in text else (0,)
    said: list[dict[str, object]] = []
    for pick in picks:
        for way in ways:
            told = {"pick": pick, "way": way}
            said.append({"result": told})
            said.append({"result": told, "error": {"kind": "connection", "way": way}})

    def options(asking: ExecutionStart) -> list[tuple[dict[str, object], float]]:
        lengths = takes if asking.kind != "noop" else (0.0,)
        return [(one, seconds) for one in said for seconds in lengths]

    return options


@st.composite
def forks(draw: st.DrawFn, policy: str, *, can_return: bool = False) -> dict[str, object]:
    """A fork of two branches, of one step or two, and the step at which they meet.

    Those that `can_return` may lead back to the fork.
    """

    def branch(name: str, to: str) -> dict[str, object]:
        arc: dict[str, object] = {"step": to}
        if draw(st.booleans()):
            arc["when"] = "{{ event.name == 'step.done' or event.error.way == 1 }}"
        found = [arc]
        if can_return and draw(st.booleans()):
            found.append({"step": "split", "when": "{{ event.name == 'step.failed' }}"})
        # Where a branch could only fail, what follows the join would not be free any more.
        task = draw(tasks("a", [], can_pass=True))
        return {"step": name, "tool": [task], "next": {"arcs": found}}

    is_long = draw(st.booleans())
    router: dict[str, object] = {"mode": "fork"}
    if draw(st.booleans()):
        router["max_in_flight"] = draw(st.integers(1, 2))
    first = {
        "step": "split",
        "next": {"spec": router, "arcs": [{"step": "left"}, {"step": "right"}]},
    }
    last = {"step": "meet", "spec": {"join": {"policy": policy}}, "tool": [draw(tasks("a", []))]}
    branches = [branch("left", "more" if is_long else "meet"), branch("right", "meet")]
    if is_long:
        branches.append(branch("more", "meet"))
    found: dict[str, object] = {"metadata": {"name": "made"}, "workflow": [first, *branches, last]}
    return found | (
        {"executor": {"spec": {"limits": {"visits_per_step": 2}}}} if can_return else {}
    )


@st.composite
def graphs(draw: st.DrawFn, *, can_restart: bool = False) -> str:
    """A line of tool nodes in the docs dialect, with ways that lead back and ways for failures.

    Those that `can_restart` have ways that begin the run anew.
    """
    names = ["a", "b"][: draw(st.integers(1, 2))]
    lines = ["digraph made {", f"  max_visits={draw(st.integers(1, 2))}"]
    if can_restart:
        lines.append(f"  max_restarts={draw(st.integers(1, 2))}")
    if draw(st.booleans()):
        lines.append(f"  fallback={draw(st.sampled_from(names))}")
    if draw(st.booleans()):
        lines.append(f"  max_goal_gate_redirects={draw(st.integers(0, 2))}")
    lines += ["  start [shape=ellipse]", "  done [shape=ellipse]"]
    lines += [f"  {name} [{draw(_nodes(names[: at + 1]))}]" for at, name in enumerate(names)]
    lines.append(f"  {' -> '.join(['start', *names, 'done'])}")
    for at, name in enumerate(names):
        if draw(st.booleans()):
            to = draw(st.sampled_from([*names[: at + 1], "done"]))
            most = f" max_retries={draw(st.integers(1, 2))}" if draw(st.booleans()) else ""
            if can_restart:
                to, most = draw(st.sampled_from(names)), " loop_restart=true"
            status = draw(st.sampled_from(["FAILURE", "SUCCESS", "PARTIAL"]))
            lines.append(f"  {name} -> {to} [condition=\"status == '{status}'\"{most}]")
    return "\n".join([*lines, "}"])


@st.composite
def _nodes(draw: st.DrawFn, before: list[str]) -> str:
    parts = ['shape=component tool_command="x" timeout=2s']
    if draw(st.booleans()):
        backoff = draw(st.sampled_from(["none", "linear", "exponential", "aggressive"]))
        parts.append(f"max_retries={draw(st.integers(1, 2))} retry_backoff={backoff}")
    if draw(st.integers(0, 2)) == 0:
        parts.append(f"retry_target={draw(st.sampled_from(before))}")
    if draw(st.integers(0, 2)) == 0:
        parts.append("goal_gate=true")
    if draw(st.integers(0, 3)) == 0:
        parts.append(f"on_failure={draw(st.sampled_from(['route', 'succeed']))}")
    return " ".join(parts)


def statuses(takes: tuple[float, ...], *words: str) -> Options:
    """Every outcome a graph can tell apart, `words` of its own too; no two failures are the same."""

    def options(asking: ExecutionStart) -> list[tuple[dict[str, object], float]]:
        told = f"visit {asking.key.visit}, attempt {asking.attempt}"
        said: list[dict[str, object]] = [
            {"status": "success"},
            {"status": "partial_success"},
            {"status": "skipped"},
            *(dict[str, object](status=word) for word in words),
            {"error": {"kind": "connection", "message": told}},
            {"error": {"kind": "client_error", "message": told}},
        ]
        return [(one, seconds) for one in said for seconds in takes]

    return options
