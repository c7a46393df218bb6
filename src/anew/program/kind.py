"""What is true of a tool kind: the columns of the table of kinds.

Checks, the engine, the runtime, the lab and the views read the column they need, so that none of
them names a kind. Knows no tool: `tool` is only where to find one.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

from anew.program.extras import Extra
from anew.values import Object

# Sending one of these twice may do the work twice (RFC 9110, section 9.2.2, and PATCH).
UNSAFE_METHODS = frozenset({"POST", "PATCH"})
_READING_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
# Accepted on every kind: what identifies a call, and the names of credentials and arguments.
SHARED_INPUTS: Mapping[str, str] = {
    "auth": "The name of a credential, or of an entry of the keychain.",
    "idempotency_key": "true: a key that all attempts of one visit of the task share; or a "
    "template of one.",
}
_SHARED_ALIASES = {"credential": "auth", "with": "args", "input": "args"}
# The words for the key that says what a side is (`Kind.sides`); the first is the canonical one.
SIDE_WORDS = ("type", "tool", "kind")
# What an outage puts in the place of this text: the time to wait that the other side asks for.
RETRY_AFTER = "(retry-after)"


class OutcomeSource(StrEnum):
    """Who or what gives a task its outcome; all but the world is the business of Anew itself."""

    WORLD = "world"  # a tool, which asks or changes something outside
    INPUTS = "inputs"  # a tool, which only gives back what its inputs say
    CLOCK = "clock"  # time passes
    RELAY = "relay"  # the engine makes it of the inputs, and nothing is called
    PERSON = "person"
    SIGNAL = "signal"
    CHILD = "child"  # another run
    RESTART = "restart"  # the run that takes the place of this one
    SECRET = "secret"
    STORE = "store"  # what tasks keep in Anew's own database
    WORKBOOK = "workbook"  # the task of the workbook that the inputs name


class TargetForm(StrEnum):
    """How the inputs name whom a call goes to."""

    HOST = "host"  # the host of an address
    DATABASE = "database"  # a credential, a URL or a file
    COMMAND = "command"  # the program that a command line begins with
    DOCUMENT = "document"  # a registered program or its file
    WORDS = "words"  # the inputs themselves, one after the other


class Target(Struct, frozen=True):
    """Whom a call goes to: the inputs that say so, and `default` when they are silent.

    Without a default, calls that do not name anyone have nobody in common.
    """

    form: TargetForm
    inputs: tuple[str, ...]
    default: str | None = None


class Helper(Struct, frozen=True):
    """The tool's own view of an outcome, `outcome.<name>`; `keys` are all it has, where checked.

    Where people know errors by a code, `code` is the key that holds it, and `code_name` what it is
    called: `HTTP 503`.
    """

    name: str
    meaning: str
    keys: tuple[str, ...] = ()
    code: str | None = None
    code_name: str = ""


class Outage(Struct, frozen=True):
    """What a call comes to while the other side is out; `says` is what the outcome holds beside."""

    kind: str = "connection"
    message: str = "the connection was reset"
    says: Object = {}


class Kind(Struct, frozen=True):
    """One row. A kind that others install has only a name, `is_open`, and the defaults.

    `inputs` are the canonical names with their meanings. `required` holds groups of them of which
    one each must be given, `choices` groups of which at most one may be.
    """

    name: str
    title: str = ""
    outcome_from: OutcomeSource = OutcomeSource.WORLD

    # What an author may write.
    inputs: Mapping[str, str] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    required: tuple[tuple[str, ...], ...] = ()
    choices: tuple[tuple[str, ...], ...] = ()
    is_open: bool = False  # takes any input
    texts: frozenset[str] = frozenset()  # inputs that are one text
    verbatim: frozenset[str] = frozenset()  # inputs that are never rendered
    paths: tuple[str, ...] = ()  # inputs that are paths on the worker's machine
    script_for: str | None = None  # the input whose text `script` may bring
    timeout_seconds: float | None = None
    timeout_phases: Mapping[str, str] = field(default_factory=dict)

    # Where the tool is (`module:name`), and what it needs; without one, Anew serves the kind.
    tool: str | None = None
    is_sandboxed: bool = False  # starts processes of the author, in the sandbox it is built with
    extra: Extra | None = None
    word_extras: Mapping[str, Mapping[str, Extra]] = field(default_factory=dict)  # of inputs

    # What it speaks.
    sql: frozenset[str] = frozenset()  # inputs that are SQL text
    sql_mark: str = ":"  # what begins the name of a bound value
    folds_names: bool = False  # an unquoted name is read in lower case
    can_run_once: bool = False  # records in its own transaction that it has made its changes
    has_own_file: bool = False  # without `database` it uses a file of the run
    shell: frozenset[str] = frozenset()  # inputs that a shell reads
    words: frozenset[str] = frozenset()  # of `shell`, inputs that as a list start no shell
    is_code: bool = False  # code of the author, which may use the idempotency key itself
    reply: str | None = None  # the field of its result that is a reply to people
    writes_ctx: bool = False  # an outcome may write to `ctx` what no `set` names
    has_names: bool = False  # code in which names of the run are variables
    method: str | None = None  # the input with the method of an HTTP request, GET unless given
    # Inputs that are objects described by rows of their own, one for each `type`; each may have an
    # `auth` of its own.
    sides: Mapping[str, Mapping[str, Kind]] = field(default_factory=dict)
    # Inputs that are one of a few words: every word an author may use, and what it stands for.
    word_inputs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    takes_args_apart: bool = False  # inputs may stand below `args`

    # What a call does, and to whom. The first of `effect` whose inputs are given says it in one
    # line; () is for what changes nothing. `save` is the input that takes the data of a save block.
    reading: tuple[str, str] | None = None  # an input, and its word for calls that change nothing
    effect: tuple[str, ...] = ("unknown effect (a tool that is not part of Anew)",)
    target: Target | None = None
    helper: Helper | None = None
    outage: Outage = Outage()
    save: str | None = None
    save_inputs: Mapping[str, str] = field(default_factory=dict)

    def canonical(self, key: str) -> str:
        return self.aliases.get(key) or _SHARED_ALIASES.get(key, key)

    def knows(self, key: str) -> bool:
        return self.is_open or key in self.inputs or key in SHARED_INPUTS

    @property
    def spellings(self) -> frozenset[str]:
        """Every word an author may use for an input."""
        return frozenset({*self.inputs, *SHARED_INPUTS, *self.aliases, *_SHARED_ALIASES})

    @property
    def waits_for_others(self) -> bool:
        """Whether it calls nothing, and someone outside gives the outcome in their own time."""
        return self.outcome_from in (OutcomeSource.PERSON, OutcomeSource.SIGNAL)

    @property
    def is_wait(self) -> bool:
        """Whether its time is spent waiting, so that nobody can be slow at it."""
        return self.waits_for_others or self.outcome_from is OutcomeSource.CLOCK

    @property
    def is_known_by_inputs(self) -> bool:
        """Whether the inputs alone say what it gives, so that a log need not be asked."""
        return self.outcome_from in (OutcomeSource.INPUTS, OutcomeSource.CLOCK)

    @property
    def is_of_engine(self) -> bool:
        """Whether the engine gives the outcome itself, in every world."""
        return self.outcome_from in (OutcomeSource.RELAY, OutcomeSource.RESTART)

    @property
    def is_instant(self) -> bool:
        """Whether it takes no time worth counting: the engine does it, or starts it."""
        return self.is_of_engine or self.outcome_from is OutcomeSource.INPUTS

    @property
    def is_called_again(self) -> bool:
        """Whether calling it again is how it waits or finds what it began.

        A lost worker then costs nothing.
        """
        return self.outcome_from in _CALLED_AGAIN

    @property
    def keeps_references(self) -> bool:
        """Whether what it is given goes into a log again: references to secrets stay references."""
        return self.outcome_from in (OutcomeSource.CHILD, OutcomeSource.STORE)

    @property
    def may_give_secrets(self) -> bool:
        return self.outcome_from in _GIVE_SECRETS

    def method_of(self, inputs: Mapping[str, object]) -> str | None:
        """The method that a call sends; None for a kind that has none."""
        if self.method is None:
            return None
        return str(inputs.get(self.method) or "GET").strip().upper()

    def unsafe_method_of(self, inputs: Mapping[str, object]) -> str | None:
        """The method of a call that is not safe to repeat."""
        method = self.method_of(inputs)
        return None if method is None or is_idempotent(method) else method

    def only_reads(self, inputs: Mapping[str, object]) -> bool:
        """Whether the method, or the word of an input, says that the call changes nothing."""
        if self.reading is not None:
            return inputs.get(self.reading[0]) == self.reading[1]
        return self.method_of(inputs) in _READING_METHODS


_GIVE_SECRETS = (OutcomeSource.SECRET, OutcomeSource.CHILD, OutcomeSource.STORE)
_CALLED_AGAIN = (OutcomeSource.CLOCK, OutcomeSource.CHILD, OutcomeSource.RESTART)


def is_idempotent(method: str) -> bool:
    """Whether sending the same request twice is the same as sending it once."""
    return method.upper() not in UNSAFE_METHODS
