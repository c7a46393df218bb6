"""What each type of node leaves in the context, as `set_ctx` of a playbook's rules."""

from __future__ import annotations

import re

from msgspec import Struct, field

from anew.languages.dot.conditions.jinja_reads import text
from anew.languages.dot.conditions.subjects import SPEC_WORDS
from anew.languages.translation.graph_texts import literal
from anew.program.policy import Patch
from anew.program.program import Task
from anew.values import Object

_RESULT = "outcome.result"
_ANSWER = (
    f"(({_RESULT} if {_RESULT} is string else {_RESULT}.response or {_RESULT}.text "
    f"or {_RESULT}.output or '') | string)"
)
_STDOUT = f"({_RESULT}.stdout or '')"
_BEST = "args.join.results[args.join.best].verdict"
_KEY = re.compile(r"\s*(?:\[(\w+)\]|(\w)\)|(\w)\s+-\s)")
# By the key that is written; a key that is not here cannot be said.
_VALUES: dict[str, str] = {
    "last_response": f"{{{{ {_ANSWER}[:200] }}}}",
    "_human_response": f"{{{{ {_RESULT}.answer }}}}",
    "human.gate.label": f"{{{{ {_RESULT}.label }}}}",
    "tool.output": f"{{{{ {_STDOUT} }}}}",
    "tool.exit_code": f"{{{{ {_RESULT}.exit_code }}}}",
    "tool.last_line": f"{{{{ ({_STDOUT} | trim).split('\\n') | last | trim }}}}",
    "tool_stdout": f"{{{{ {_STDOUT} | trim }}}}",
    "stack.child.outcome": "success",
    "stack.child.status": "{{ 'failed' if outcome.status == 'error' else 'completed' }}",
    "parallel.fan_in.best_id": "{{ args.join.best }}",
    "parallel.fan_in.best_outcome": f"{{{{ {SPEC_WORDS!r}[{_BEST}] }}}}",
}
# Said in another shape: what the branches did, as the engine tells it.
RESHAPED = {"parallel.results": "{{ args.join.results }}"}

# What nodes write by themselves.
AUTOMATIC = frozenset({*_VALUES, *RESHAPED, "last_stage", "human.gate.selected"})


class Written(Struct):
    """`values` by key; `reshaped` and `lost` are keys whose values differ or cannot be said."""

    values: Object = field(default_factory=dict)
    reshaped: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


def written_by(task: Task, patches: tuple[Patch, ...]) -> Written:
    """The patches of a node's task in the words of a playbook."""
    found = Written()
    for patch in patches:
        key = ".".join(patch.path)
        if key == "last_stage":
            found.values[key] = literal(task.label)
        elif key == "human.gate.selected":
            found.values[key] = _selected(task)
        elif key in _VALUES:
            found.values[key] = _VALUES[key]
        elif key in RESHAPED:
            found.values[key] = RESHAPED[key]
            found.reshaped.append(key)
        else:
            found.lost.append(key)
    return found


def _selected(task: Task) -> str:
    """The key of the chosen label: its accelerator, else its first letter."""
    source = task.inputs.source
    choices = source.get("choices") if isinstance(source, dict) else None
    keys = [
        f"{text(label)}: {text(_accelerator(label))}"
        for label in choices or []
        if isinstance(label, str)
    ]
    return f"{{{{ {{{', '.join(keys)}}}[{_RESULT}.label] }}}}"


def _accelerator(label: str) -> str:
    found = _KEY.match(label)
    return next(filter(None, found.groups())) if found else label[:1].upper()
