"""A step's older `case` block as what it stands for: arcs, a `retry` block and a `set`.

The first branch whose condition holds decides; `next` of the step is where the others go. What a
branch does beyond `next`, `set`, `retry` and `result` is refused, with what says it today.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from anew.expressions import ExpressionError
from anew.languages import made
from anew.languages.nodes import Entry, Item, ListNode, MapNode, Node, ScalarNode, is_null
from anew.languages.playbook.compilation import Compilation, shown
from anew.languages.playbook.desugar.branches import (
    OlderBranch,
    branches_of,
    check_last,
    condition_of,
    inside_else,
    routed,
    targets,
)
from anew.languages.playbook.desugar.canonical import of_errors
from anew.languages.playbook.dialect_words import case_retry_words
from anew.languages.playbook.keys import CASE_ACTIONS, CASE_BRANCH_KEYS
from anew.languages.playbook.translate import Untranslatable, inner_expression, is_joined, translate
from anew.program.span import Span

_STORING = "a storage task at the end of the pipeline: `- save: {kind: postgres, …}`"
# What an older runtime did in a branch besides, and what says it today.
REFUSED_ACTIONS: Mapping[str, str] = {
    "collect": "a rule of the task: `then: {do: jump, to: …, set_ctx: {pages: …}}`",
    "sink": _STORING,
    "save": _STORING,
    "call": "the call as a task of the pipeline, after this one",
    "tool": "the tool as a task of the pipeline, after this one",
    "pipe": "the tasks as the step's pipeline: `tool: [{label: {kind: …}}, …]`",
    "fail": '`spec: {policy: {rules: [{when: …, then: {do: fail, message: "…"}}]}}` on the task',
}
_AS_TASK = "a task of the pipeline with this name"
_FORM = "Write `next: {spec: {mode: exclusive}, arcs: [{step: …, when: …, set: {…}}]}`."
_RETRY_FORM = "Write `retry: {max_attempts: …, retry_when: …}` on the task."
_ON_ERROR = re.compile(
    r"event\.name\s*==\s*(['\"])(?:call\.error|step\.failed)\1(?:\s+and\s+(?P<also>.+))?", re.DOTALL
)
_ON_DONE = re.compile(r"event\.name\s*==\s*(['\"])(?:call\.done|step\.done)\1")


class _Case(Struct, frozen=True):
    """One branch: what it asks and what it does, each under its own key."""

    place: Span
    when: Entry | None
    does: Mapping[str, Entry]
    arcs: tuple[Item, ...]


def without_case(c: Compilation, step: MapNode) -> MapNode:
    """The step with its `case` as `next`, `retry` and `set`."""
    entry = step.entries["case"]
    c.noncanonical("strict.case", entry.place, "a `case` block is used", _FORM[6:-1])
    found = c.sequence(entry, "case")
    before = len(c.findings)
    cases = list(_cases(c, found)) if found is not None else []
    made_of: dict[str, Entry | None] = {"case": None}
    for case in cases:
        if "retry" in case.does:
            _take(c, step, made_of, _retry(c, case))
    step_set = [case for case in cases if _writes_only(case) and _asks_done(case)]
    if len(step_set) == 1:
        _take(c, step, made_of, _of_step(step, step_set[0].does["set"]))
        cases = [case for case in cases if case is not step_set[0]]
    made_of["next"] = _next(c, entry, step.get("next"), cases)
    if len(c.findings) > before:
        c.lose_route()
    return _replaced(step, entry, made_of)


def _of_step(step: MapNode, written: Entry) -> Entry:
    """What the step writes; next to a tool that is a word, `set` would be the task's."""
    tool = step.get("tool") or step.get("type")
    is_word = tool is not None and isinstance(tool.node, ScalarNode)
    return made.renamed(written, "set_ctx") if is_word else written


def _take(c: Compilation, step: MapNode, taken: dict[str, Entry | None], new: Entry | None) -> None:
    """Put what a branch does on the step, which may say it only once."""
    if new is None:
        return
    if new.key in step or new.key in taken:
        message = f"the step has another `{new.key}` than that of this branch"
        c.report("policy.conflict", new.place, message, "Keep one of them.")
        return
    taken[new.key] = new


def _replaced(step: MapNode, case: Entry, new: Mapping[str, Entry | None]) -> MapNode:
    """The step with these entries; what it did not have stands where `case` stood."""
    entries: list[Entry] = []
    for entry in step:
        if entry is case:
            entries += [e for key, e in new.items() if e is not None and key not in step]
        elif entry.key in new:
            found = new[entry.key]
            entries += [] if found is None else [found]
        else:
            entries.append(entry)
    return made.mapping(entries, step.span)


# --- branches ------------------------------------------------------------------------------------


def _cases(c: Compilation, node: ListNode) -> Iterator[_Case]:
    last = len(node.items) - 1
    for index, item in enumerate(node.items):
        branch = item.node
        if not isinstance(branch, MapNode):
            message = f"a branch of `case` must be a mapping; found {shown(branch)}"
            c.report("next.shape", branch.span, message, _FORM)
            continue
        c.check_keys(branch, CASE_BRANCH_KEYS, "a branch of `case`")
        then, otherwise = branch.get("then"), branch.get("else")
        if then is None and otherwise is None:
            c.report("next.shape", item.place, "a branch of `case` has no `then`", _FORM)
        if then is not None:
            yield _case(c, item.place, condition_of(branch), then)
        if otherwise is not None:
            check_last(c, otherwise, is_last=index == last)
            yield _case(c, otherwise.place, None, inside_else(otherwise))


def _case(c: Compilation, place: Span, when: Entry | None, then: Entry) -> _Case:
    """What a branch does: a mapping of actions, or a list of such mappings and of arcs."""
    does: dict[str, Entry] = {}
    arcs: list[Item] = []
    for item in _actions(then):
        node = item.node
        if not isinstance(node, MapNode) or "step" in node:
            arcs += targets(c, Entry("then", then.name, made.sequence([item], item.place)))
            continue
        for entry in node:
            if entry.key == "next":
                arcs += targets(c, entry)
            elif entry.key not in CASE_ACTIONS:
                _refuse(c, entry)
            elif entry.key in does:
                message = f"a branch has `{entry.key}` twice"
                c.report("tool.input-twice", entry.place, message, "Keep one of them.")
            else:
                does[entry.key] = entry
    if "result" in does:
        message = "`result` of a branch has no effect: a step's result is that of its last task"
        c.report("key.without-effect", does["result"].place, message, "Remove it.")
    return _Case(place, when, does, tuple(arcs))


def _actions(then: Entry) -> tuple[Item, ...]:
    node: Node = then.node
    if is_null(node):
        return ()
    return node.items if isinstance(node, ListNode) else (Item(then.holder, node),)


def _refuse(c: Compilation, entry: Entry) -> None:
    node = entry.node
    is_task = isinstance(node, MapNode) and any(key in node for key in ("kind", "tool", "type"))
    remedy = REFUSED_ACTIONS.get(entry.key, _AS_TASK if is_task else None)
    if remedy is None:
        c.unknown_key(entry, CASE_ACTIONS, "a branch of `case`")
        return
    message = f"`{entry.key}` in a branch of `case` is an older form that is not run"
    c.report("dialect.unsupported", entry.place, message, f"Write {remedy}.")


def _writes_only(case: _Case) -> bool:
    return "set" in case.does and not case.arcs and "retry" not in case.does


def _asks_done(case: _Case) -> bool:
    """Whether a branch asks for nothing but that the step is done."""
    expression = _expression(case.when)
    return expression is not None and _ON_DONE.fullmatch(expression) is not None


def _expression(when: Entry | None) -> str | None:
    node = when.node if when is not None else None
    return inner_expression(node.text) if isinstance(node, ScalarNode) else None


# --- where to go ---------------------------------------------------------------------------------


def _next(c: Compilation, case: Entry, given: Entry | None, cases: list[_Case]) -> Entry | None:
    others = _others(c, given)
    away = others[-1].arcs if others and others[-1].when is None else ()
    found = [branch for one in cases if (branch := _branch(c, one, away)) is not None]
    if not found and given is not None:
        return given
    if not found:
        return None
    routed_by = case if given is None else given
    return routed(c, routed_by, [*found, *others])


def _branch(c: Compilation, case: _Case, away: tuple[Item, ...]) -> OlderBranch | None:
    """The branch of the router; one that says no step goes where the step's `next` leads."""
    if not case.arcs and case.does.keys() <= {"retry"} and case.does:
        return None  # what is retried in vain is for the other branches
    arcs, patches = case.arcs or away, case.does.get("set")
    if patches is None:
        return OlderBranch(case.place, case.when, arcs)
    if not arcs:
        message = "a branch of `case` sets something and leads nowhere"
        c.report("dialect.unsupported", patches.place, message, "Write `set: {…}` on the step.")
        return None
    # Written once, however many steps follow.
    first = _with_set(c, arcs[0], patches)
    return OlderBranch(case.place, case.when, (first, *arcs[1:]))


def _with_set(c: Compilation, arc: Item, patches: Entry) -> Item:
    node = arc.node
    if not isinstance(node, MapNode):
        return arc
    if "set" in node:
        message = "a branch and the arc it leads to both have `set`"
        c.report("tool.input-twice", patches.place, message, "Keep one of them.")
        return arc
    return made.with_node(arc, made.mapping([*node, patches], node.span))


def _others(c: Compilation, given: Entry | None) -> list[OlderBranch]:
    """Where the step's `next` leads those that no branch takes."""
    if given is None or is_null(given.node):
        return []
    node: Node = given.node
    rows = node.get("arcs") if isinstance(node, MapNode) else None
    if rows is not None and isinstance(node, MapNode):
        _check_exclusive(c, node)
        node = rows.node
    items = node.items if isinstance(node, ListNode) else (Item(given.holder, node),)
    branches = list(branches_of(c, items))
    if rows is None and branches and all(branch.when is None for branch in branches):
        return [OlderBranch(given.place, None, tuple(arc for one in branches for arc in one.arcs))]
    return branches


def _check_exclusive(c: Compilation, router: MapNode) -> None:
    spec = router.get("spec")
    for entry in spec.node if spec is not None and isinstance(spec.node, MapNode) else ():
        is_mode = entry.key == "mode" and isinstance(entry.node, ScalarNode)
        if not is_mode or entry.node.text != "exclusive":  # type: ignore[union-attr]
            message = f"`{entry.key}` of `next` cannot be kept together with `case`"
            c.report("dialect.unsupported", entry.place, message, _FORM)


# --- retry ---------------------------------------------------------------------------------------


def _retry(c: Compilation, case: _Case) -> Entry | None:
    """The `retry` block of a branch on `call.error`; what it asks besides is `retry_when`."""
    block = case.does["retry"]
    expression = _expression(case.when)
    found = _ON_ERROR.fullmatch(expression) if expression is not None else None
    if found is None or not is_joined(expression or "", "and"):
        message = "`retry` in a branch is run only where it asks `event.name == 'call.error'`"
        c.report("dialect.unsupported", block.place, message, _RETRY_FORM)
        return None
    also = found["also"]
    if not also:
        return block
    assert case.when is not None
    place = case.when.node.span
    try:
        text = translate(f"{{{{ {also} }}}}", case_retry_words)
    except (Untranslatable, ExpressionError) as problem:
        message = f"the condition of a `retry` {problem}"
        c.report("dialect.unsupported", place, message, getattr(problem, "remedy", _RETRY_FORM))
        return None
    # A block also asks this of results that are ok, which such a branch never saw.
    asked = made.entry("retry_when", of_errors(text, place), place, case.when)
    return made.renamed(block, "retry", made.mapping([*_settings(block), asked], block.place))


def _settings(block: Entry) -> Iterator[Entry]:
    """A block as a mapping, whichever of its forms it has."""
    node = block.node
    if isinstance(node, MapNode):
        yield from node
    elif isinstance(node, ScalarNode) and not isinstance(node.value, bool):
        yield made.renamed(block, "max_attempts")
