"""How often each rule of a run's program has decided, beside what the rule says.

Counts one event at a time. A rule is known by its number: events that another document decided are
not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from anew.engine import events as e
from anew.expressions import Condition
from anew.program.policy import Rule
from anew.program.program import Program, Task
from anew.program.span import NOWHERE
from anew.views.context import is_made_up
from anew.views.picture.shown import RulesHit, RuleShown
from anew.views.wording import one_line

RULES_SHOWN_MAX = 300
RULE_CHARACTERS_MAX = 200


class RuleHits:
    """By step, task and number of the rule."""

    def __init__(self) -> None:
        self._hits: Counter[tuple[str, str, int]] = Counter()

    def feed(self, event: e.Event) -> None:
        """Take one more event of the log, in order."""
        if isinstance(event, e.TaskProcessed) and event.rule is not None:
            self._hits[event.step or "", event.task or "", event.rule] += 1

    def forget(self) -> None:
        """What was counted so far was decided by another document."""
        self._hits.clear()

    def rows(self, program: Program | None) -> tuple[list[RulesHit], int]:
        """Every rule in the order of the document, and how many more there are.

        Of too many, those that have decided something come first.
        """
        found = list(self._rows(program)) if program is not None else []
        if len(found) <= RULES_SHOWN_MAX:
            return found, 0
        first = sorted(found, key=lambda row: row.hits == 0)[:RULES_SHOWN_MAX]
        return first, len(found) - RULES_SHOWN_MAX

    def _rows(self, program: Program) -> Iterator[RulesHit]:
        for step in program.steps.values():
            if step.is_relay or is_made_up(step):
                continue
            for task in step.tasks:
                for numbers in _as_written(task.policy.rules):
                    hits = sum(self._hits[step.name, task.label, number] for number in numbers)
                    yield _row(step.name, task, numbers, hits)


def _as_written(rules: Sequence[Rule]) -> Iterator[list[int]]:
    """The numbers of the rules; those that one condition of a retry block became, together."""
    numbered = enumerate(rules, 1)
    for _, found in groupby(numbered, key=lambda pair: pair[1].name or pair[0]):
        yield [number for number, _ in found]


def _directives(rules: Iterable[Rule]) -> str:
    """`retry`; `fail or continue` where it depends on the outcome."""
    return " or ".join(dict.fromkeys(rule.then.kind.value for rule in rules))


def _row(step: str, task: Task, numbers: list[int], hits: int) -> RulesHit:
    rules = [task.policy.rules[number - 1] for number in numbers]
    return RulesHit(
        step=step,
        task=task.label,
        rule=rule_shown(rules[0], numbers[0]),
        when=source_text(rules[0].when),
        directive=_directives(rules),
        hits=hits,
    )


def rule_shown(rule: Rule, number: int) -> RuleShown:
    """A rule and where it stands; nowhere when nobody wrote it."""
    name, span = rule.name or None, rule.span
    is_written = span != NOWHERE
    line, column = (span.line, span.column) if is_written else (None, None)
    return RuleShown(number, name, line, column)


def rule_of(
    program: Program | None, step: str, task: str | None, number: int | None
) -> RuleShown | None:
    """The rule an event names; its number alone where the program does not tell more."""
    if number is None:
        return None
    found = program.task_of(step, task) if program else None
    rules = found.policy.rules if found else ()
    if not 1 <= number <= len(rules):
        return RuleShown(number, None, None, None)
    return rule_shown(rules[number - 1], number)


def source_text(condition: Condition | None) -> str | None:
    """A condition as its author wrote it, on one line, without the braces around the whole."""
    if condition is None:
        return None
    text = str(condition.source).strip()
    if text.startswith("{{") and text.endswith("}}") and text.count("{{") == 1:
        text = text[2:-2].strip()
    return one_line(text, characters_max=RULE_CHARACTERS_MAX)
