"""The tool kinds a program may use: their inputs, other names for them, and time limits.

A table for checks and for the compiler of documents. Tools themselves are elsewhere; kinds that
others install are found by their entry points, looked up only when a kind is not in the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from msgspec import Struct, field

ENTRY_POINT_GROUP = "anew.tools"
# Sending one of these twice may do the work twice (RFC 9110, section 9.2.2, and PATCH).
UNSAFE_METHODS = frozenset({"POST", "PATCH"})
# The words of an agent's input `fidelity`: how much of the run so far it is told.
FIDELITIES = ("full", "truncate", "compact", "summary:low", "summary:medium", "summary:high")

# Accepted on every kind: what identifies a call, and the names of credentials and arguments.
_SHARED_INPUTS = frozenset({"auth", "idempotency_key"})
_SHARED_ALIASES = {"credential": "auth", "with": "args", "input": "args"}


class Kind(Struct, frozen=True):
    """`required` holds groups of canonical inputs of which one each must be given.

    `choices` are groups of which at most one may be given; `texts` are inputs that are one text.
    """

    name: str
    required: tuple[tuple[str, ...], ...] = ()
    inputs: frozenset[str] = frozenset()
    aliases: Mapping[str, str] = field(default_factory=dict)
    timeout_seconds: float | None = None
    is_open: bool = False  # takes any input
    choices: tuple[tuple[str, ...], ...] = ()
    texts: frozenset[str] = frozenset()
    verbatim: frozenset[str] = frozenset()  # inputs that are never rendered
    sql: frozenset[str] = frozenset()  # inputs that are SQL text
    shell: frozenset[str] = frozenset()  # inputs that a shell reads
    words: frozenset[str] = frozenset()  # of those, what is no shell's when it is a list

    def canonical(self, key: str) -> str:
        return self.aliases.get(key) or _SHARED_ALIASES.get(key, key)

    def knows(self, key: str) -> bool:
        return self.is_open or key in self.inputs or key in _SHARED_INPUTS

    @property
    def spellings(self) -> frozenset[str]:
        """Every word an author may use for an input."""
        return self.inputs | _SHARED_INPUTS | self.aliases.keys() | _SHARED_ALIASES.keys()


_SQL_ALIASES = dict.fromkeys("commands cmd cmds query queries sql".split(), "command")
_SQL_INPUTS = frozenset({"command", "params", "transaction", "database"})


def _sql(name: str, *required: tuple[str, ...]) -> Kind:
    return Kind(
        name,
        required=(("command",), *required),
        inputs=_SQL_INPUTS,
        aliases=_SQL_ALIASES,
        timeout_seconds=60.0,
        sql=frozenset({"command"}),
    )


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TABLE = (
    Kind(
        "http",
        required=(("url",),),
        inputs=_words(
            "url method params headers json body payload data form follow_redirects verify"
        ),
        aliases={"endpoint": "url", "verify_ssl": "verify"},
        timeout_seconds=30.0,
        choices=(("json", "body", "payload", "data", "form"),),
        texts=_words("url method"),
    ),
    Kind(
        "python",
        required=(("code", "script"),),
        inputs=_words("code script args"),
        timeout_seconds=600.0,
        verbatim=frozenset({"code", "script"}),
        choices=(("code", "script"),),
        texts=_words("code script"),
    ),
    _sql("postgres", ("auth",)),
    _sql("duckdb"),
    _sql("sqlite"),
    Kind(
        "shell",
        required=(("command",),),
        inputs=_words("command env cwd stdin"),
        aliases={"cmd": "command", "cmds": "command", "commands": "command"},
        timeout_seconds=600.0,
        shell=frozenset({"command"}),
    ),
    Kind("noop", inputs=_words("result")),
    # Calls nothing: the outcome is what its inputs describe.
    Kind("relay", inputs=_words("outcome")),
    Kind(
        "sleep",
        required=(("seconds", "until"),),
        inputs=_words("seconds until"),
        choices=(("seconds", "until"),),
        texts=_words("seconds until"),
    ),
    Kind(
        "playbook",
        required=(("path", "file"),),
        inputs=_words("path file args version async return_step"),
        aliases={"payload": "args", "result_step": "return_step"},
        choices=(("path", "file"),),
        texts=_words("path file"),
    ),
    # Begins the run anew at a step, as another run in its place.
    Kind("restart", required=(("entry",),), inputs=_words("entry"), texts=_words("entry")),
    Kind(
        "workbook",
        required=(("name",),),
        inputs=_words("name args"),
        aliases={"task": "name"},
        texts=_words("name"),
    ),
    Kind("secrets", required=(("name",),), inputs=_words("name provider"), texts=_words("name")),
    Kind("wait", required=(("signal",),), inputs=_words("signal timeout"), texts=_words("signal")),
    Kind(
        "human",
        required=(("question",),),
        inputs=_words("question choices timeout timeout_action default"),
        texts=_words("question"),
    ),
    Kind(
        "agent",
        required=(("prompt",),),
        inputs=_words(
            "prompt backend provider model system preamble goal fidelity thread history "
            "reasoning_effort max_tokens temperature context "
            "command cwd env status_file auto_status base_url extra_body settings"
        ),
        aliases={
            "cmd": "command",
            "llm_model": "model",
            "llm_provider": "provider",
            "thread_id": "thread",
        },
        # Agents work for long; one that hangs must still end.
        timeout_seconds=3600.0,
        texts=_words("prompt backend provider model"),
        shell=frozenset({"command"}),
        words=frozenset({"command"}),
    ),
)
KINDS: Mapping[str, Kind] = {kind.name: kind for kind in _TABLE}


def find_kind(name: str) -> Kind | None:
    """The kind of this name, built in or installed by a third party."""
    known = KINDS.get(name)
    if known is not None:
        return known
    return Kind(name, is_open=True) if name in installed_kinds() else None


@cache
def installed_kinds() -> frozenset[str]:
    """Names that installed packages register under `anew.tools`."""
    # Slow to import and needed by almost no document.
    from importlib.metadata import entry_points  # noqa: PLC0415

    return frozenset(point.name for point in entry_points(group=ENTRY_POINT_GROUP))


def is_idempotent(method: str) -> bool:
    """Whether sending the same request twice is the same as sending it once."""
    return method.upper() not in UNSAFE_METHODS
