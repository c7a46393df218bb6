"""Where the program says what the log did: rules, arcs, gates, and the words of its language.

Everything here can be asked without a program; then the answers are short.
"""

from __future__ import annotations

from os.path import basename

from msgspec import Struct

from anew.expressions import Condition
from anew.program.policy import Rule
from anew.program.program import AdmitRule, Arc, Program, Step, Task
from anew.program.span import NOWHERE, Span
from anew.views.wording import one_line

QUOTED_CHARACTERS_MAX = 160


class Sources(Struct):
    """`program` is the one that decided what is told just now, if it is known."""

    program: Program | None = None

    # --- words -----------------------------------------------------------------------------------

    @property
    def is_graph(self) -> bool:
        return self.program is not None and self.program.language == "dot"

    @property
    def arc_word(self) -> str:
        return "edge" if self.is_graph else "arc"

    @property
    def step_word(self) -> str:
        return "node" if self.is_graph else "step"

    @property
    def gate_word(self) -> str:
        return "goal gate" if self.is_graph else "gate"

    # --- parts -----------------------------------------------------------------------------------

    def step(self, name: str | None) -> Step | None:
        return self.program.steps.get(name or "") if self.program is not None else None

    def task(self, step: str | None, label: str | None) -> Task | None:
        return self.program.task_of(step, label) if self.program is not None else None

    def rule(self, step: str | None, label: str | None, number: int | None) -> Rule | None:
        task = self.task(step, label)
        rules = task.policy.rules if task is not None else ()
        return rules[number - 1] if number is not None and 1 <= number <= len(rules) else None

    def arc(self, step: str | None, number: int) -> Arc | None:
        found = self.step(step)
        arcs = found.router.arcs if found is not None else ()
        return arcs[number - 1] if 1 <= number <= len(arcs) else None

    def admission(self, step: str | None, number: int | None) -> AdmitRule | None:
        found = self.step(step)
        rules = found.admit if found is not None else ()
        return rules[number - 1] if number is not None and 1 <= number <= len(rules) else None

    def is_relay(self, step: str | None) -> bool:
        """Whether a step calls nothing and only passes on how the one before it went."""
        found = self.step(step)
        return found is not None and found.is_relay


def where(span: Span | None) -> str:
    """` (flow.yaml:14:9)`; nothing for what stands nowhere."""
    if span is None or span == NOWHERE:
        return ""
    return f" ({basename(span.file)}:{span.line}:{span.column})"


def condition_text(condition: Condition | None) -> str:
    """A condition as its author wrote it, without the braces around the whole."""
    if condition is None:
        return ""
    return quoted(str(condition.source))


def quoted(source: str) -> str:
    """An expression in backquotes; one that is code has words of its own."""
    text = source.strip()
    if text.startswith("{{") and text.endswith("}}") and text.count("{{") == 1:
        text = text[2:-2].strip()
    line = one_line(text, characters_max=QUOTED_CHARACTERS_MAX)
    is_code = line.startswith("(") and line.endswith(")") and line[1:-1].replace(" ", "").isalpha()
    return line[1:-1] if is_code else f"`{line}`"
