"""The tool kinds a program may use: one row for each, with all that is true of it.

To add a kind: its tool in a module of `tools/`, its row here, its page in the reference. Kinds that
others install are found by their entry points, looked up only when a kind is not in the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache

from msgspec.structs import replace

from anew.program.artifacts import ARTIFACT
from anew.program.extras import AGENT_BACKENDS, DUCKDB, POSTGRES, Extra
from anew.program.kind import (
    RETRY_AFTER,
    Helper,
    Kind,
    Outage,
    OutcomeSource,
    Target,
    TargetForm,
)
from anew.program.mcp import MCP
from anew.program.transfer import TRANSFER

ENTRY_POINT_GROUP = "anew.tools"
# The words of an agent's input `fidelity`: how much of the run so far it is given.
FIDELITIES = ("full", "truncate", "compact", "summary:low", "summary:medium", "summary:high")

# Packages bring texts of scripts from elsewhere under this group, by the type of their source.
SCRIPT_ENTRY_POINT_GROUP = "anew.scripts"

_ARGS = "Arguments, by name."
_SCRIPT = (
    "A file with the text, next to the document; or `{uri, source: {type: …}}` for one from "
    "elsewhere."
)
_HTTP = Helper(
    "http",
    "`status` and `headers` (names in lower case)",
    ("status", "headers"),
    code="status",
    code_name="HTTP",
)
_TOO_MANY_REQUESTS = {"status": 429, "headers": {"retry-after": RETRY_AFTER}}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SQL = Kind(
    "",
    inputs={
        "command": "One statement or a list of them. Values belong into `params`.",
        "script": _SCRIPT,
        "params": "Values that are bound, never spliced into the text.",
        "transaction": "false: every statement commits separately. Default true.",
        "database": "A database file, relative to the document; a file of the run unless given.",
    },
    aliases=dict.fromkeys("commands cmd cmds query queries sql".split(), "command"),
    required=(("command", "script"),),
    choices=(("command", "script"),),
    paths=("script",),
    script_for="command",
    timeout_seconds=60.0,
    sql=_words("command"),
    save="params",
    effect=("script {script}", "{command}"),
)

_FILE = Target(TargetForm.DATABASE, ("auth", "database"), "a file of the run")

_TABLE = (
    Kind(
        "http",
        title="Sends an HTTP request.",
        inputs={
            "url": "The address, with http:// or https://.",
            "method": "GET unless given.",
            "params": "The query, by name.",
            "headers": "Header fields, by name.",
            "json": "The body, sent as JSON.",
            "body": "The body: a mapping or list as JSON, a text as it is.",
            "payload": "As `body`.",
            "data": "As `body`; with GET, HEAD or DELETE a mapping is the query.",
            "form": "The body, sent as a form.",
            "follow_redirects": "true unless given; at most 10.",
            "verify": "Whether certificates are verified. Default true.",
        },
        aliases={"endpoint": "url", "verify_ssl": "verify"},
        required=(("url",),),
        choices=(("json", "body", "payload", "data", "form"),),
        texts=_words("url method"),
        timeout_seconds=30.0,
        timeout_phases={
            "connect": "Until the connection is open.",
            "read": "Between two pieces of the answer.",
        },
        tool="anew.tools.http:HttpTool",
        method="method",
        effect=("{url}",),
        target=Target(TargetForm.HOST, ("url",)),
        helper=_HTTP,
        outage=Outage(
            "rate_limit",
            "Too Many Requests",
            {
                "http": _TOO_MANY_REQUESTS,
                "result": {
                    "status_code": 429,
                    "headers": _TOO_MANY_REQUESTS["headers"],
                    "data": None,
                },
            },
        ),
        save="json",
        save_inputs={"method": "POST"},
    ),
    Kind(
        "python",
        title="Runs Python code in a process of its own.",
        inputs={
            "code": "The code. `main(…)` is called with the arguments; what it returns is the "
            "result.",
            "script": _SCRIPT,
            "args": _ARGS,
            "libs": "Modules to import first, by the name they get: `pd: pandas`, "
            "`dt: {from: datetime, import: datetime}`.",
        },
        required=(("code", "script"),),
        choices=(("code", "script"),),
        texts=_words("code"),
        verbatim=_words("code libs"),
        paths=("script",),
        script_for="code",
        timeout_seconds=600.0,
        tool="anew.tools.python.tool:PythonTool",
        is_sandboxed=True,
        is_code=True,
        has_names=True,
        effect=("script {script}", "code"),
        helper=Helper("py", "`exception` and `exception_type`", ("exception", "exception_type")),
        outage=Outage(
            says={
                "py": {
                    "exception": "the connection was reset",
                    "exception_type": "ConnectionResetError",
                }
            },
        ),
        save="args",
    ),
    replace(
        _SQL,
        name="postgres",
        title="Runs SQL statements on PostgreSQL, in one transaction.",
        required=(*_SQL.required, ("auth",)),
        tool="anew.tools.postgres:PostgresTool",
        extra=POSTGRES,
        can_run_once=True,
        folds_names=True,
        target=Target(TargetForm.DATABASE, ("auth", "database"), "unknown"),
        helper=Helper(
            "pg", "`code` and `sqlstate`", ("code", "sqlstate"), code="code", code_name="SQLSTATE"
        ),
        outage=Outage(
            "db_connection",
            "the server closed the connection",
            {"pg": {"code": "08006", "sqlstate": "08006"}},
        ),
    ),
    replace(
        _SQL,
        name="duckdb",
        title="Runs SQL statements on DuckDB, in one transaction.",
        paths=("script", "database"),
        tool="anew.tools.duckdb:DuckdbTool",
        extra=DUCKDB,
        sql_mark="$",
        has_own_file=True,
        target=_FILE,
        helper=Helper("duckdb", "`exception_type` and `code`", ("exception_type", "code")),
        outage=Outage("db_connection", "the file is locked by another process"),
    ),
    replace(
        _SQL,
        name="sqlite",
        title="Runs SQL statements on SQLite, in one transaction.",
        paths=("script", "database"),
        tool="anew.tools.sqlite:SqliteTool",
        can_run_once=True,
        has_own_file=True,
        target=_FILE,
        outage=Outage("db_timeout", "the database is locked"),
    ),
    Kind(
        "shell",
        title="Runs a shell command.",
        inputs={
            "command": "One command, or a list that stops at the first that fails. Values belong "
            "into `env`, or go through the filter `shquote`.",
            "env": "More variables than PATH, HOME and LANG; the place for values and secrets.",
            "cwd": "The folder it runs in.",
            "stdin": "What it reads from its standard input.",
            "shell": "What reads the command: `sh` (unless given) or `bash`.",
        },
        word_inputs={"shell": {"sh": "sh", "bash": "bash"}},
        aliases=dict.fromkeys("cmd cmds commands".split(), "command"),
        required=(("command",),),
        paths=("cwd",),
        timeout_seconds=600.0,
        tool="anew.tools.shell:ShellTool",
        is_sandboxed=True,
        shell=_words("command"),
        is_code=True,
        effect=("{command}",),
        target=Target(TargetForm.COMMAND, ("command",)),
        helper=Helper("shell", "`exit_code`", ("exit_code",)),
        outage=Outage(
            "exit_code",
            "exit status 75",
            {
                "shell": {"exit_code": 75},
                "result": {"exit_code": 75, "stdout": "", "stderr": ""},
            },
        ),
    ),
    Kind(
        "noop",
        title="Calls nothing and gives `result`.",
        outcome_from=OutcomeSource.INPUTS,
        inputs={"result": "What the task gives; {} unless given."},
        tool="anew.tools.noop:NoopTool",
        effect=(),
    ),
    Kind(
        "relay",
        title="Calls nothing: the outcome is what its inputs describe.",
        outcome_from=OutcomeSource.RELAY,
        inputs={
            "outcome": "status, verdict, word, label, suggested, result, error, updates.",
        },
        writes_ctx=True,
        effect=(),
    ),
    Kind(
        "sleep",
        title="Waits, as durably as a retry.",
        outcome_from=OutcomeSource.CLOCK,
        inputs={
            "seconds": "How long: a number of seconds, a duration (`500ms`, `1m`) or a template.",
            "until": "Until when: an ISO 8601 moment.",
        },
        required=(("seconds", "until"),),
        choices=(("seconds", "until"),),
        texts=_words("seconds until"),
        effect=(),
    ),
    Kind(
        "playbook",
        title="Runs another playbook or graph as a child run.",
        outcome_from=OutcomeSource.CHILD,
        inputs={
            "path": "The name or `metadata.path` of a registered program; else a `.yaml` file.",
            "file": "Its file, next to the document.",
            "args": "Laid over its input.",
            "version": "The version of a registered program; the newest unless given.",
            "async": "true: do not wait for it; the result is `{run_id}`.",
            "return_step": "The step whose result is returned.",
        },
        aliases={"payload": "args", "result_step": "return_step"},
        required=(("path", "file"),),
        choices=(("path", "file"),),
        texts=_words("path file"),
        paths=("file",),
        effect=("starts a child run of {path}", "starts a child run of {file}"),
        target=Target(TargetForm.DOCUMENT, ("file", "path")),
    ),
    Kind(
        "restart",
        title="Restarts at a step, as another run in place of this one.",
        outcome_from=OutcomeSource.RESTART,
        inputs={"entry": "The step to start at."},
        required=(("entry",),),
        texts=_words("entry"),
        effect=("restarts the run at {entry}",),
    ),
    Kind(
        "workbook",
        title="Calls a task of the workbook.",
        outcome_from=OutcomeSource.WORKBOOK,
        inputs={"name": "The name of a task of the workbook.", "args": _ARGS},
        aliases={"task": "name"},
        required=(("name",),),
        texts=_words("name"),
        effect=(),
    ),
    Kind(
        "secrets",
        title="Gives a reference to a secret.",
        outcome_from=OutcomeSource.SECRET,
        inputs={"name": "The name of the secret.", "provider": "Where it is kept."},
        required=(("name",),),
        texts=_words("name"),
        effect=(),
        target=Target(TargetForm.WORDS, ("name",), "unknown"),
    ),
    ARTIFACT,
    Kind(
        "wait",
        title="Waits for a signal.",
        outcome_from=OutcomeSource.SIGNAL,
        inputs={
            "signal": "The signal's name: letters, digits and _ . : @ -",
            "timeout": "How long to wait; forever unless given.",
        },
        required=(("signal",),),
        texts=_words("signal"),
        effect=(),
    ),
    Kind(
        "human",
        title="Asks a person.",
        outcome_from=OutcomeSource.PERSON,
        inputs={
            "question": "What is asked.",
            "choices": "The labels to choose from; without them any text is an answer.",
            "timeout": "How long to wait; forever unless given.",
            "timeout_action": "What follows then: fail (default), first, skip or retry.",
            "default": "The label that is chosen then.",
        },
        required=(("question",),),
        texts=_words("question"),
        effect=("asks a person: {question}",),
    ),
    Kind(
        "agent",
        title="Asks a model or an agent program.",
        inputs={
            "prompt": "What the agent is asked.",
            "backend": "How the agent is reached.",
            "provider": "Whose model it is.",
            "model": "Which model.",
            "system": "Instructions that come above the conversation.",
            "preamble": "What happened so far; it comes before the prompt.",
            "goal": "What the whole run is for.",
            "fidelity": f"How much of the run so far it is given: {', '.join(FIDELITIES)}.",
            "thread": "The conversation this belongs to.",
            "history": "What was said earlier in the thread: a list of `{role, text}`.",
            "reasoning_effort": "As the model knows it: low, medium, high.",
            "max_tokens": "How long the answer may be.",
            "temperature": "As the model knows it.",
            "context": "Values for backends that want more than the prompt.",
            "command": "The program to start, for backends that are one.",
            "cwd": "The folder it works in.",
            "env": "Variables it gets.",
            "status_file": "Where it writes how it went.",
            "auto_status": "true: no status file counts as success.",
            "base_url": "The address of the server.",
            "extra_body": "Further fields of the request's body.",
            "settings": "Inputs of other backends, by name.",
        },
        aliases={
            "cmd": "command",
            "llm_model": "model",
            "llm_provider": "provider",
            "thread_id": "thread",
        },
        required=(("prompt",),),
        texts=_words("prompt backend provider model"),
        timeout_seconds=3600.0,  # agents work for long; one that hangs must still end
        reply="text",
        tool="anew.tools.agent:AgentTool",
        word_extras={"backend": AGENT_BACKENDS},
        is_sandboxed=True,
        shell=_words("command"),
        words=_words("command"),
        writes_ctx=True,
        effect=("asks an agent: {prompt}",),
        target=Target(TargetForm.WORDS, ("backend", "provider", "model"), "the default"),
        helper=_HTTP,
        outage=Outage("rate_limit", "Too Many Requests", {"http": _TOO_MANY_REQUESTS}),
    ),
    TRANSFER,
    MCP,
)
KINDS: Mapping[str, Kind] = {kind.name: kind for kind in _TABLE}
# The helpers that an outcome may have, beside status, result and error.
HELPERS: Mapping[str, Helper] = {
    kind.helper.name: kind.helper for kind in _TABLE if kind.helper is not None
}


# Kinds of the modules that this process was given (`tools/modules.py`), which anybody may write.
MODULE_KINDS: dict[str, Kind] = {}


def kind_named(name: str) -> Kind:
    """The row of a kind; for one that is not ours, what is true of any."""
    return KINDS.get(name) or MODULE_KINDS.get(name) or _open_kind(name)


@lru_cache(maxsize=256)
def _open_kind(name: str) -> Kind:
    return Kind(name, is_open=True)


def find_kind(name: str) -> Kind | None:
    """The kind of this name, built in, of a module, or installed by a third party."""
    known = KINDS.get(name) or MODULE_KINDS.get(name)
    if known is not None:
        return known
    return _open_kind(name) if name in installed_kinds() else None


def missing_extra(name: str) -> Extra | None:
    """The extra that a kind needs and this installation does not have."""
    extra = kind_named(name).extra
    return extra if extra is not None and extra.is_missing else None


def optional_parts(name: str) -> Iterator[tuple[str, str, Extra]]:
    """What of a kind needs an extra: an input or a side, its word, and which one."""
    kind = kind_named(name)
    for key, words in kind.word_extras.items():
        yield from ((key, word, extra) for word, extra in words.items())
    for key, rows in kind.sides.items():
        yield from ((key, word, row.extra) for word, row in rows.items() if row.extra is not None)


def installed_kinds() -> frozenset[str]:
    """Names that installed packages register under `anew.tools`, and those of modules."""
    return _registered(ENTRY_POINT_GROUP) | MODULE_KINDS.keys()


def installed_script_sources() -> frozenset[str]:
    """Types of sources that installed packages register under `anew.scripts`."""
    return _registered(SCRIPT_ENTRY_POINT_GROUP)


@cache
def _registered(group: str) -> frozenset[str]:
    # Slow to import and needed by almost no document.
    from importlib.metadata import entry_points  # noqa: PLC0415

    return frozenset(point.name for point in entry_points(group=group))
