"""Judge the keys that expressions read below a name, and say where a name stands.

Knows which keys outcomes, errors and events have, and those that the document itself writes. Does
not know which names exist at which place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from anew.languages.nodes import Node, scalars
from anew.languages.playbook.compilation import Compilation, NameRead, Path, Site, place_in
from anew.program.findings import Severity
from anew.program.kind import OutcomeSource
from anew.program.kinds import HELPERS, KINDS
from anew.program.policy import PatchTarget
from anew.program.program import Dialect, Step
from anew.program.span import Span

# Nobody reads more findings, and looking for the place of each goes through the whole value again.
_PLACED_FINDINGS = 500
_OUTCOME = frozenset({"outcome", "output"})
# Two names as alike as this are one with a slip in it; `api_url` and `api_key` are not.
TYPO_LIKENESS_MIN = 0.75

# The keys that outcomes and events have (playbook.md#an-arc, events.md#the-outcome).
_META = ("attempt", "duration_ms", "started_at", "ended_at", "trace_id")
ADVICE = ("verdict", "word", "label", "suggested")
_VOCABULARY: Mapping[Path, tuple[str, ...]] = {
    ("outcome",): ("status", "result", "error", "meta", *ADVICE, *HELPERS),
    ("output",): ("status", "data", "response", "error", "meta", *ADVICE, *HELPERS),
    **{
        (outcome, helper.name): helper.keys
        for outcome in ("outcome", "output")
        for helper in HELPERS.values()
        if helper.keys
    },
    ("outcome", "meta"): _META,
    ("output", "meta"): _META,
    ("event",): ("name", "step", "visit", "result", "error", "outcome", "total", "done", "failed"),
    ("event", "outcome"): (*ADVICE, "error"),
}
# The keys of an error; tools may add others, so only what is much like one of these is a slip.
_ERRORS = frozenset({("outcome", "error"), ("output", "error"), ("event", "error")})
_ERROR_PARTS = frozenset(
    "kind retryable message code type reason where retry retry_after loop".split()
)
# What the result of a loop has; `stats` and `data` are other names for it.
_LOOP_PARTS = frozenset("results total done failed stats data".split())
# The names whose keys are checked, beside those of the steps that are loops.
HOLDERS = frozenset({"outcome", "output", "event", "workload", "ctx", "iter", "keychain"})
# Keys that are there, but elsewhere or under another name.
_KEY_SYNONYMS: Mapping[Path, str] = {
    ("outcome", "data"): "outcome.result",
    ("output", "result"): "output.data",
    ("outcome", "status_code"): "outcome.http.status",
    ("output", "status_code"): "output.http.status",
    ("outcome", "http", "status_code"): "outcome.http.status",
    ("output", "http", "status_code"): "output.http.status",
    ("outcome", "attempt"): "outcome.meta.attempt",
    ("output", "attempt"): "output.meta.attempt",
    ("outcome", "message"): "outcome.error.message",
    ("output", "message"): "output.error.message",
}


class KnownKeys:
    """The keys that a document itself puts below `workload`, `ctx` and `iter`, and its loops.

    Remembers what it was asked: documents read the same few keys again and again.
    """

    def __init__(
        self,
        workload: frozenset[str],
        ctx: frozenset[str],
        *,
        loops: frozenset[str] = frozenset(),
        credentials: frozenset[str] = frozenset(),
    ) -> None:
        self._workload = workload
        self._ctx = ctx
        self._loops = loops
        self._credentials = credentials
        self._either = ctx | workload
        self._iter: dict[str, frozenset[str]] = {}
        self._meant: dict[tuple[frozenset[str], str], str | None] = {}

    def known(self, name: str, step: Step | None) -> frozenset[str]:
        """Empty where anything may be there."""
        if name == "workload":
            return self._workload
        if name == "keychain":
            return self._credentials
        if name == "ctx":
            says_output = step is not None and step.dialect is Dialect.OUTPUT
            return self._either if says_output else self._ctx
        if name in self._loops and (step is None or name not in step.index_of):
            return _LOOP_PARTS
        if name != "iter" or step is None or step.loop is None:
            return frozenset()
        if step.name not in self._iter:
            self._iter[step.name] = _iter_keys(step, step.loop.iterator)
        return self._iter[step.name]

    def meant(self, c: Compilation, key: str, known: frozenset[str]) -> str | None:
        """The known key that this one probably is, with a slip in it."""
        if (known, key) not in self._meant:
            near = c.suggestions.near(key, known, TYPO_LIKENESS_MIN)
            is_sibling = near is not None and _without_digits(near) == _without_digits(key)
            self._meant[known, key] = None if is_sibling else near
        return self._meant[known, key]


def _without_digits(name: str) -> str:
    """`page_1` and `page_2` are two names, not one with a slip in it."""
    return re.sub(r"\d+", "0", name)


def _iter_keys(step: Step, iterator: str) -> frozenset[str]:
    patches = (patch for task in step.tasks for patch in task.policy.all_patches)
    written = {patch.path[0] for patch in patches if patch.target is PatchTarget.ITER}
    return frozenset({iterator, "index", "parent"} | written)


def check_path(
    c: Compilation, read: NameRead, path: Path, *, step: Step | None, below: KnownKeys
) -> None:
    """Warn of a key that a closed vocabulary lacks, or that is nearly one the document gives."""
    for end in range(1, len(path)):
        keys = _VOCABULARY.get(path[:end])
        if keys is not None and path[end] not in keys and not _may_add(path[:end], step):
            _report_key(c, read, path[: end + 1], keys)
            return
    if path[0] == "keychain":
        _check_credential(c, read, path[1], below.known("keychain", step))
        return
    is_error = path[:2] in _ERRORS and len(path) > 2
    depth = 2 if is_error else 1
    known = _ERROR_PARTS if is_error else below.known(path[0], step)
    if not known or path[depth] in known or (read.place is Site.LOOP and path[0] == "iter"):
        return
    meant = below.meant(c, path[depth], known)
    if meant is not None:
        holder = ".".join(path[:depth])
        message = f"nothing provides '{holder}.{path[depth]}'; it would be undefined"
        remedy = f"Did you mean '{holder}.{meant}'?"
        c.report("name.unknown", _path_place(c, read.node, path[: depth + 1]), message, remedy)


def _check_credential(c: Compilation, read: NameRead, name: str, declared: frozenset[str]) -> None:
    """Warn of a credential that the document does not declare: it is null, in a header as well."""
    if name in declared:
        return
    place = _path_place(c, read.node, ("keychain", name))
    near = c.suggestions.near(name, declared, TYPO_LIKENESS_MIN)
    remedy = f"Did you mean 'keychain.{near}'?" if near else None
    message = f"the document declares no credential {name!r}; it would be undefined"
    c.report("name.unknown", place, message, remedy or f"Add `keychain: [{{name: {name}}}]`.")


def check_ctx(c: Compilation, steps: Mapping[str, Step], workload: frozenset[str]) -> None:
    """Warn of keys of `ctx` that decide something, and that nothing in the document writes."""
    kinds = {task.kind for step in steps.values() for task in step.tasks}
    if any(kind not in KINDS or KINDS[kind].writes_ctx for kind in kinds):
        return  # a tool may write them
    if any(found.severity is Severity.ERROR for found in c.findings):
        return  # what writes them may not have been understood
    told: set[str] = set()
    below = KnownKeys(workload, frozenset(c.ctx_keys))
    for read in c.reads:
        step = steps.get(read.step)
        says_output = step is None or step.dialect is Dialect.OUTPUT
        for path in sorted(read.paths) if read.is_condition else ():
            if len(path) < 2 or path[0] != "ctx" or path[1] in c.ctx_keys | told:
                continue
            key = path[1]
            is_told = below.meant(c, key, below.known("ctx", step)) is not None
            if is_told or (says_output and key in workload) or _allows_absence(read.node, key):
                continue
            told.add(key)
            near = key if key in workload else below.meant(c, key, workload)
            meant = f"Did you mean 'workload.{near}'?" if near is not None else None
            message = f"nothing in this document writes 'ctx.{key}'; it would be undefined"
            remedy = meant or f"Write it with `set: {{ctx.{key}: …}}`, or read another name."
            c.report("name.unknown", _path_place(c, read.node, path[:2]), message, remedy)


def _allows_absence(node: Node, key: str) -> bool:
    """Whether an expression says what holds where the key of `ctx` is not there."""
    name = rf"\bctx(?:\.{re.escape(key)}\b|\[['\"]{re.escape(key)}['\"]\])(?:\.\w+|\[[^\]]*\])*"
    asked = re.compile(rf"{name}\s*(?:is\b|\|\s*(?:default|d)\b|or\b)")
    return any(asked.search(scalar.text) for scalar in scalars(node))


def _may_add(path: Path, step: Step | None) -> bool:
    """Whether a tool that is not built in may add keys of its own to the outcome."""
    if len(path) > 1 or path[0] not in _OUTCOME:
        return False
    tasks = step.tasks if step is not None else ()
    return not tasks or any(
        task.kind not in KINDS or task.outcome_from is OutcomeSource.WORKBOOK for task in tasks
    )


def _report_key(c: Compilation, read: NameRead, path: Path, keys: tuple[str, ...]) -> None:
    holder, key = ".".join(path[:-1]), path[-1]
    message = f"{holder} has no key {key!r}; it has {', '.join(keys)}"
    meant = _KEY_SYNONYMS.get(path)
    if meant is None:
        near = c.suggestions.near(key, keys)
        meant = f"{holder}.{near}" if near is not None else None
    remedy = f"Did you mean {meant!r}?" if meant is not None else "Read one of the keys it has."
    c.report("outcome.key", _path_place(c, read.node, path), message, remedy)


def _path_place(c: Compilation, node: Node, path: Path) -> Span:
    """Where a path is read; written with brackets, where its name is."""
    place = place_of_name(c, node, ".".join(path))
    return place if place != node.span else place_of_name(c, node, path[0])


def place_of_name(c: Compilation, node: Node, name: str) -> Span:
    """Where a name or dotted path is read first below a node; of very many, only the node."""
    if len(c.findings) > _PLACED_FINDINGS:
        return node.span
    pattern = re.compile(rf"(?<![\w.'\"]){re.escape(name)}\b")
    for scalar in scalars(node):
        if scalar is not node and "{" not in scalar.text:
            continue
        found = pattern.search(scalar.text)
        if found is not None:
            return place_in(scalar, found.start())
    return node.span
