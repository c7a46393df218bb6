"""Changes the states of guards inside the transaction of the commit that was decided from them."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from anew.store import GuardWrite
from anew.stores.refusals import stale_guard

_TOKEN = "SELECT token FROM guards WHERE scope = ?"
_ADD = "INSERT INTO guards (scope, token, state) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
_CHANGE = "UPDATE guards SET token = ?, state = ? WHERE scope = ? AND token = ?"
_IS_HELD = """EXISTS (
    SELECT 1 FROM jobs
    WHERE is_leased = 1 AND run = ? AND step = ? AND visit = ? AND iteration = ? AND jobs.token = ?
)"""
_CHANGE_HELD = f"{_CHANGE} AND {_IS_HELD}"
_ADD_HELD = f"""
INSERT INTO guards (scope, token, state) SELECT ?, ?, ? WHERE {_IS_HELD} ON CONFLICT DO NOTHING
"""
_SAME_HELD = f"""
SELECT (SELECT token FROM guards WHERE scope = ?) IS ? AND {_IS_HELD}
"""


def write_guards(db: apsw.Cursor, writes: Sequence[GuardWrite]) -> None:
    """One statement for one state. A refusal leaves all of them as they were."""
    if len(writes) > 1 or writes[0].token is None:
        for write in writes:
            found = db.execute(_TOKEN, (write.scope,)).fetchone()
            if (None if found is None else found[0]) != write.expected:
                raise stale_guard(write.scope)
    for write in writes:
        if write.token is not None:
            _write(db, write)


def write_guard_of_holder(db: apsw.Cursor, write: GuardWrite, lease: tuple[object, ...]) -> bool:
    """One state, if it is as it was and the lease (its job and token) is held; False if not."""
    if write.token is None:
        return bool(db.execute(_SAME_HELD, (write.scope, write.expected, *lease)).get)
    state = (write.token, write.state)
    if write.expected is None:
        db.execute(_ADD_HELD, (write.scope, *state, *lease))
    else:
        db.execute(_CHANGE_HELD, (*state, write.scope, write.expected, *lease))
    return db.connection.changes() > 0


def _write(db: apsw.Cursor, write: GuardWrite) -> None:
    if write.expected is None:
        db.execute(_ADD, (write.scope, write.token, write.state))
    else:
        db.execute(_CHANGE, (write.token, write.state, write.scope, write.expected))
    if db.connection.changes() == 0:
        raise stale_guard(write.scope)
