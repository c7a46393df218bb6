"""Make the changes of a call once, however often it is called: the table of what was done.

The row of a call is written in the transaction of its statements, so both are there or neither.
Knows the rows and their SQL, which PostgreSQL and SQLite read alike; each tool runs it its own way.
"""

from __future__ import annotations

import json
import re

from anew.tools.sql.failure import wrong_input
from anew.values import Object, json_text

CREATE = (
    "CREATE TABLE IF NOT EXISTS anew_effects "
    "(key text PRIMARY KEY, result text, made_at timestamp DEFAULT CURRENT_TIMESTAMP)"
)
# PostgreSQL waits here for another transaction that has the same key, until it has ended.
CLAIM = "INSERT INTO anew_effects (key) VALUES ($1) ON CONFLICT DO NOTHING RETURNING key"
READ = "SELECT result FROM anew_effects WHERE key = $1"
# In the order of their numbers, which is how SQLite counts them.
RECORD = "UPDATE anew_effects SET result = $1 WHERE key = $2"

_COMMENTS = r"(?:\s+|--[^\n]*(?:\n|$)|/\*.*?\*/)*"
# What ends or begins a transaction; going back to a savepoint does neither.
_CONTROL = re.compile(
    rf"{_COMMENTS}(BEGIN|START|COMMIT|END|ABORT|PREPARE\s+TRANSACTION|"
    r"ROLLBACK(?!\s+(?:(?:WORK|TRANSACTION)\s+)?TO\b))\b",
    re.IGNORECASE | re.DOTALL,
)


def refuse_control(statement: str) -> None:
    """Raise for a statement that would part the changes from the row that stands for them."""
    found = _CONTROL.match(statement)
    if found is not None:
        raise wrong_input(
            f"a task with exactly_once has one transaction of its own: remove {found[1].upper()}"
        )


def written(result: Object) -> str:
    return json_text(result)


def read(result: str) -> Object:
    """The result of the call that made the changes."""
    found: Object = json.loads(result)
    return found
