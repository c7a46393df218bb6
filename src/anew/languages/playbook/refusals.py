"""What users of NoETL write that is not run here, each with the reason and what to write instead.

Tool kinds whose systems nobody speaks to, reading references, functions that fetch a token, and
documents of another sort. Asked only where something is already known to be wrong, or read anyway.
"""

from __future__ import annotations

from collections.abc import Mapping

from anew.expressions import ExpressionError
from anew.languages.nodes import MapNode, ScalarNode
from anew.languages.playbook.compilation import Compilation, NameRead, place_in
from anew.program.kinds import ENTRY_POINT_GROUP

_RULE = "dialect.unsupported"
_SHELL = "a `shell` task that calls its client"
# The kind, what it needs, and what does without.
FOREIGN_KINDS: Mapping[str, tuple[str, str]] = {
    "snowflake": ("Snowflake", f"a `python` task with its driver, or {_SHELL}"),
    "ducklake": ("DuckLake", "a `duckdb` task with `ATTACH 'ducklake:…'` among its statements"),
    "rhai": ("the language Rhai", "a `python` task with the same code in Python"),
    "script": ("Kubernetes", f"a `python` task with `script`, or {_SHELL}"),
    "subscription": ("a message broker", f"{_SHELL} for the broker, in a loop"),
    "gcs": ("Google Cloud Storage", f"an `http` task with `auth`, or {_SHELL}"),
    "provider": ("the REST interfaces of cloud providers", "an `http` task with `auth`"),
    "s3": ("Amazon S3", f"an `http` task with `auth`, or {_SHELL}"),
    "ibkr": ("Interactive Brokers", "`http` tasks that call its gateway"),
    "ollama_bridge": ("Ollama", "an `http` task, or a task of kind `agent`"),
    "kafka": ("Kafka", _SHELL),
    "pubsub": ("Google Pub/Sub", "an `http` task with `auth`"),
    "nats": ("NATS", f"{_SHELL}, or install `examples/nats_tool` of Anew's sources"),
    "container": ("a container engine", f"{_SHELL}: `docker run …`"),
}
_ITERATOR = "`tool: iterator` is an older form that is not run"
_LOOP_FORM = (
    '`loop: {in: "{{ … }}", iterator: item, spec: {mode: parallel}}` with the task as `tool`'
)
_REFERENCE = "_ref"
_TOKEN = "unknown function 'token'"


def report_foreign_kind(c: Compilation, node: ScalarNode) -> bool:
    """Whether a kind is one that is not run here, which is reported then."""
    if node.text == "iterator":
        c.report(_RULE, node.span, _ITERATOR, f"Write {_LOOP_FORM}.")
        return True
    if node.text not in FOREIGN_KINDS:
        return False
    needs, instead = FOREIGN_KINDS[node.text]
    message = f"tool kind {node.text!r} needs {needs}, which Anew does not speak to"
    remedy = (
        f"Write {instead}; or install a package that provides the kind under the entry point "
        f"`{ENTRY_POINT_GROUP}`."
    )
    c.report(_RULE, node.span, message, remedy)
    return True


def report_foreign_side(c: Compilation, node: ScalarNode, side: str) -> bool:
    """Whether a side of a transfer is one that is not run here, which is reported then."""
    if node.text not in FOREIGN_KINDS:
        return False
    message = (
        f"{side} {node.text!r} needs {FOREIGN_KINDS[node.text][0]}, which Anew does not speak to"
    )
    remedy = (
        "Let a task of its client read or write a file, and transfer that: "
        "`{type: file, path: rows.csv}`."
    )
    c.report(_RULE, node.span, message, remedy)
    return True


def report_other_document(c: Compilation, root: MapNode) -> bool:
    """Whether a document is a Subscription, which is reported then."""
    entry = root.get("kind")
    said = entry.node.text if entry is not None and isinstance(entry.node, ScalarNode) else ""
    if entry is None or said.casefold() != "subscription":
        return False
    message = "a Subscription starts runs from a message broker, which Anew does not speak to"
    remedy = (
        "Let what receives the messages start runs: `POST /api/runs`, a webhook, or `anew start`."
    )
    c.report(_RULE, entry.node.span, message, remedy)
    return True


def report_references(c: Compilation, read: NameRead) -> None:
    """Report `<step>._ref`: results are values here, however large, and never references."""
    for path in sorted(read.paths):
        if _REFERENCE in path[1:]:
            whole = ".".join(path[: path.index(_REFERENCE)])
            message = f"`{'.'.join(path)}` reads a reference; results are values here"
            c.report(_RULE, read.node.span, message, f"Read the result itself: `{whole}`.")
            return


def report_token(c: Compilation, node: ScalarNode, error: ExpressionError) -> bool:
    """Whether an expression fails because it calls `token()`, which is reported then."""
    if not error.message.startswith(_TOKEN):
        return False
    message = "`token()` is not run: a template cannot fetch a token"
    remedy = "Name the credential on the task: `auth: my_credential`, and remove the header."
    c.report(_RULE, place_in(node, error.offset), message, remedy)
    return True
