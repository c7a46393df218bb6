"""Check commands that make code out of a value: `eval "$name"`, `sh -c "… $name"`.

Variables reach a command through its environment, so that their values are never read as commands;
these forms read them again. A simple reading of the command, hence only a warning.
"""

from __future__ import annotations

import re

from anew.languages.dot.attributes import excerpt
from anew.languages.dot.commands import command_of
from anew.languages.dot.compilation import GraphCompilation
from anew.languages.dot.environment import is_risky
from anew.languages.dot.graph import Attribute
from anew.languages.dot.variables import Variable, assigned_in, variables_in_command

# What is read as code: all of a command behind `eval`, the text behind `-c` of a shell.
_CODE = re.compile(
    r"""(?<![\w./-])(?:eval\b[^;&|\n]*|(?:[\w./-]*/)?(?:ba|da|k|z)?sh\s(?:\s*-\w+)*?\s*-\w*c\s+
    (?:"(?:[^"\\]|\\.)*"|[^\s;&|"']+))""",
    re.VERBOSE | re.DOTALL,
)
_REMEDY = 'Hand it over as an argument: `sh -c \'echo "$1"\' sh "$name"`.'


def check_shell(c: GraphCompilation) -> None:
    for node in c.graph.nodes.values():
        command = command_of(c, node) if c.types[node.id].name == "tool" else None
        if command is None or not c.is_first("shell-code", command):
            continue
        for variable in _read_again(command):
            written = excerpt(variable.written, most=120)
            message = f"the value of {written} of node {node.id!r} is read as shell code"
            c.report("shell-code", c.places(command)(variable.at), message, _REMEDY)


def _read_again(command: Attribute) -> list[Variable]:
    """The variables of the run that stand where a shell reads code."""
    spans = [found.span() for found in _CODE.finditer(command.raw)]
    if not spans:
        return []
    own = assigned_in(command.raw)
    return [
        variable
        for variable in variables_in_command(command.raw)
        if any(begin <= variable.at < end for begin, end in spans)
        and not (variable.is_plain and (variable.key in own or is_risky(variable.key)))
    ]
