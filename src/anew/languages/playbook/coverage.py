"""Judge whether rules leave error outcomes to chance.

A condition is taken to cover all errors only when it plainly asks for nothing else.
"""

from __future__ import annotations

import re

from anew.program.check import is_else
from anew.program.policy import OutcomeStatus, Rule

_STATUS = r"(?:outcome|output)\.status"
_ALWAYS_ON_ERROR = re.compile(
    rf"""(?:
        {_STATUS} \s* == \s* (['"])error\1
      | (['"])error\2 \s* == \s* {_STATUS}
      | {_STATUS} \s* != \s* (['"])(?:ok|success)\3
      | {_STATUS} \s* in \s* [\[(] \s* (['"])error\4 \s* ,? \s* [\])]
      | (?:outcome|output)\.error (?: \s+ is \s+ defined )?
      | (?:outcome|output)\.error \s* (?: != \s* none | is \s+ not \s+ none )
      | true
    )""",
    re.VERBOSE | re.IGNORECASE,
)


def covers_errors(rules: tuple[Rule, ...]) -> bool:
    """Whether some rule matches every error outcome."""
    return any(_covers(rule) for rule in rules)


def _covers(rule: Rule) -> bool:
    if rule.on is OutcomeStatus.OK:
        return False
    if rule.when is None:
        return is_else(rule) or rule.on is OutcomeStatus.ERROR
    return bool(_ALWAYS_ON_ERROR.fullmatch(bare(rule.when.source)))


def bare(source: str) -> str:
    """A condition's expression without its braces and outer parentheses."""
    text = source.strip()
    if text.startswith("{{") and text.endswith("}}") and text.count("{{") == 1:
        text = text[2:-2].strip("-").strip()
    while text.startswith("(") and text.endswith(")") and text.count("(") == 1:
        text = text[1:-1].strip()
    return text
