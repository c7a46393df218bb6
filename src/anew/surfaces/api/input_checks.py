"""What a worker sends besides commits must be before it is kept or looked for.

Names without the character 0, moments that are some, and lists that a database can be asked for.
Knows nothing about runs.
"""

from __future__ import annotations

from collections.abc import Sized

from msgspec.structs import replace

from anew.engine.artifacts import ARTIFACT_NAME_CHARACTERS_MAX
from anew.engine.moments import LAST_MOMENT
from anew.errors import ConfigError
from anew.runtime.heartbeat import HOST_CHARACTERS_MAX, JOBS_TOLD_MAX, POOLS_TOLD_MAX
from anew.store import NewArtifact, Presence, RunFilter, SealedCredential, StoredProgram
from anew.stores.packing import SEARCHED_MESSAGE_CHARACTERS_MAX
from anew.surfaces.api.shapes import LABELS_MAX, NAME_CHARACTERS_MAX

# Of runs or documents that one list is narrowed down to; a statement has room for both.
FILTER_VALUES_MAX = 10_000
# Of the states that runs are listed by: there are few.
FILTER_STATES_MAX = 100
# What a file system takes.
FILE_CHARACTERS_MAX = 4_096
# More processes, slots or leases than any machine has.
_AMOUNT_MAX = 2**53


def check_moment(what: str, at: int) -> None:
    """ConfigError unless it is one since 1970 that every store can hold."""
    if not 0 <= at <= LAST_MOMENT:
        raise ConfigError(f"{what} names {at}, which is not a time.")


def check_document(program: StoredProgram) -> None:
    what = f"program {program.name[:80]!r}"
    check_moment(what, program.registered_at)
    _check_text(f"the name of {what}", program.name, NAME_CHARACTERS_MAX)
    _check_text(f"the file of {what}", program.file, FILE_CHARACTERS_MAX)
    for name in program.files:
        _check_text(f"the name of a file of {what}", name, FILE_CHARACTERS_MAX)
    for kind, place in program.tools.items():
        _check_text(f"a kind of {what}", kind, NAME_CHARACTERS_MAX)
        _check_text(f"the place of a kind of {what}", place, FILE_CHARACTERS_MAX)


def check_credential(credential: SealedCredential) -> None:
    what = f"credential {credential.name[:80]!r}"
    _check_text(f"the name of {what}", credential.name, NAME_CHARACTERS_MAX)
    check_moment(what, credential.created_at)
    _check_text(f"the type of {what}", credential.kind, NAME_CHARACTERS_MAX)


def check_artifact(artifact: NewArtifact) -> None:
    what = f"artifact {artifact.name[:80]!r}"
    _check_text(f"the name of {what}", artifact.name, ARTIFACT_NAME_CHARACTERS_MAX)
    for text in (artifact.owner, artifact.key, artifact.checksum):
        _check_text(f"a text of {what}", text, FILE_CHARACTERS_MAX)
    if artifact.run < 1 or artifact.attempt < 1 or (artifact.version or 1) < 1:
        raise ConfigError(f"the run, the attempt or the version of {what} is below 1.")


def checked_presence(presence: Presence, now: int) -> Presence:
    """What a worker says of itself; nobody is seen later than `now`, or others were forgotten."""
    what = f"worker {presence.worker[:80]!r}"
    for at in (presence.started_at, presence.seen_at):
        check_moment(what, at)
    _check_text(f"the name of {what}", presence.worker, NAME_CHARACTERS_MAX)
    _check_text(f"the host of {what}", presence.host, HOST_CHARACTERS_MAX)
    _check_text(f"the version of {what}", presence.version, NAME_CHARACTERS_MAX)
    _check_count(f"the pools of {what}", presence.pools, POOLS_TOLD_MAX)
    for pool in presence.pools:
        _check_text(f"a pool of {what}", pool, NAME_CHARACTERS_MAX)
    _check_count(f"the jobs of {what}", presence.jobs, JOBS_TOLD_MAX)
    for amount in (presence.process, presence.slots, presence.busy, presence.leases):
        if not 0 <= amount <= _AMOUNT_MAX:
            raise ConfigError(f"{what} counts {amount}, which cannot be.")
    return replace(presence, seen_at=min(presence.seen_at, now))


def check_filter(asked: RunFilter) -> None:
    """ConfigError for more conditions than one statement can have."""
    _check_count("the runs to list", asked.runs or (), FILTER_VALUES_MAX)
    _check_count("the documents of the runs to list", asked.digests or (), FILTER_VALUES_MAX)
    _check_count("the statuses of the runs to list", asked.statuses, FILTER_STATES_MAX)
    _check_count("the states of the runs to list", asked.states, FILTER_STATES_MAX)
    _check_count("the labels of the runs to list", asked.labels, LABELS_MAX)
    if len(asked.text or "") > SEARCHED_MESSAGE_CHARACTERS_MAX:
        raise ConfigError(
            f"the text to look for has more than {SEARCHED_MESSAGE_CHARACTERS_MAX:,} characters."
        )


def _check_text(what: str, text: str, most: int) -> None:
    if len(text) > most:
        raise ConfigError(f"{what} has {len(text):,} characters; it may have {most:,}.")
    if "\0" in text:
        raise ConfigError(f"{what} has the character 0 in it. Leave it out.")


def _check_count(what: str, values: Sized, most: int) -> None:
    count = len(values)
    if count > most:
        raise ConfigError(f"{what} are {count:,}; there may be {most:,} in one request.")
