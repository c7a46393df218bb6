"""How long the retries of a node wait: a preset by name, or the author's own table of delays.

`retry_backoff` (docs) or `retry_policy` (spec) says it for all errors, and with a kind of error
behind a dot (`retry_policy.rate_limit`) for those alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from anew.engine.outcome import RETRYABLE
from anew.languages.dot.attributes import shown
from anew.languages.dot.compilation import GraphCompilation
from anew.languages.dot.graph import Attribute, Node
from anew.languages.dot.settings import given, number, text
from anew.program.retry import ANY_ERROR, Backoff, BackoffKind, Jitter, JitterKind
from anew.program.span import Span
from anew.values import parse_seconds

DELAY_SECONDS_MAX = 60.0
JITTER_DEFAULT = 0.1
DOCS_KEY = "retry_backoff"
PRESET_KEYS = ("retry_policy", "retry_preset")
# More entries than anybody writes by hand.
RETRY_DELAYS_MAX = 100
# Added to what is waited anyway; the presets that promise a fixed wait have none unless asked.
_WITHOUT_JITTER = ("none", "linear")


class Preset(Struct, frozen=True):
    """`attempts` counts executions, the first included; None leaves that to `max_retries`.

    A `table` is the author's own: its delays are waited as they are written.
    """

    kind: BackoffKind
    first: float = 0.0
    factor: float = 1.0
    attempts: int | None = None
    table: tuple[float, ...] = ()


DOCS_PRESETS: Mapping[str, Preset] = {
    "none": Preset(BackoffKind.NONE),
    "linear": Preset(BackoffKind.FIXED, 5.0),
    "exponential": Preset(BackoffKind.EXPONENTIAL, 1.0, 2.0),
    "aggressive": Preset(BackoffKind.EXPONENTIAL, 0.5, 3.0),
}
SPEC_PRESETS: Mapping[str, Preset] = {
    "none": Preset(BackoffKind.NONE, attempts=1),
    "standard": Preset(BackoffKind.EXPONENTIAL, 0.2, 2.0, 5),
    "aggressive": Preset(BackoffKind.EXPONENTIAL, 0.5, 2.0, 5),
    "linear": Preset(BackoffKind.FIXED, 0.5, attempts=3),
    "patient": Preset(BackoffKind.EXPONENTIAL, 2.0, 3.0, 3),
}
DOCS_PRESET, SPEC_PRESET = "exponential", "standard"


def table_of(raw: str) -> tuple[float, ...] | None:
    """`[20s, 5m, 30m]`, with or without brackets, in seconds; None when it is something else."""
    listed = raw.strip().removeprefix("[").removesuffix("]").replace(",", " ").split()
    found = [parse_seconds(each) for each in listed[: RETRY_DELAYS_MAX + 1]]
    delays = [each for each in found if each is not None and each >= 0]
    if not delays or len(delays) < len(found) or len(found) > RETRY_DELAYS_MAX:
        return None
    return tuple(delays)


def wrong_preset(attribute: Attribute, presets: Mapping[str, Preset]) -> str | None:
    """What is wrong with a value that is neither a preset nor delays."""
    raw = attribute.raw
    if raw.strip().lower() in presets or table_of(raw) is not None:
        return None
    known = ", ".join(presets)
    wanted = f"one of {known}, or delays such as `20s, 5m, 30m`"
    return f"{attribute.key!r} is {shown(raw)}; it must be {wanted}"


def kind_keys(*keys: str) -> tuple[str, ...]:
    """The attributes that are asked for one kind of error alone."""
    return tuple(f"{key}.{kind}" for key in keys for kind in RETRYABLE)


def delay_attribute(c: GraphCompilation, node: Node) -> Attribute | None:
    """What says how long the retries of a node wait, after any error."""
    return given(node, *_keys(c))


def stated_preset(c: GraphCompilation, node: Node, kind: str | None = None) -> Preset | None:
    """What the node says, after this kind of error alone or after any."""
    keys = _keys(c) if kind is None else tuple(f"{key}.{kind}" for key in _keys(c))
    raw = text(node, *keys)
    named = _presets(c).get(raw.strip().lower())
    if named is not None or not raw.strip():
        return named
    table = table_of(raw)
    return (
        None if table is None else Preset(BackoffKind.TABLE, attempts=1 + len(table), table=table)
    )


def backoff_of(c: GraphCompilation, node: Node, span: Span) -> Backoff:
    default = DOCS_PRESETS[DOCS_PRESET] if c.is_docs else SPEC_PRESETS[SPEC_PRESET]
    return _backoff(c, node, stated_preset(c, node) or default, span)


def backoff_by_error(
    c: GraphCompilation, node: Node, span: Span
) -> tuple[tuple[str, Backoff], ...]:
    """The delays of kinds of errors that have their own, and then those of all others."""
    said = ((kind, stated_preset(c, node, kind)) for kind in RETRYABLE)
    rows = [(kind, _backoff(c, node, preset, span)) for kind, preset in said if preset]
    return (*rows, (ANY_ERROR, backoff_of(c, node, span))) if rows else ()


def _keys(c: GraphCompilation) -> tuple[str, ...]:
    return (DOCS_KEY,) if c.is_docs else PRESET_KEYS


def _presets(c: GraphCompilation) -> Mapping[str, Preset]:
    return DOCS_PRESETS if c.is_docs else SPEC_PRESETS


def _backoff(c: GraphCompilation, node: Node, preset: Preset, span: Span) -> Backoff:
    fraction = number(node, "retry_jitter") if c.is_docs else None
    if preset.table:
        added = Jitter() if fraction is None else Jitter(JitterKind.ADDED, max(fraction, 0.0))
        return Backoff(kind=preset.kind, table=preset.table, jitter=added, span=span)
    return Backoff(
        kind=preset.kind,
        first=preset.first,
        factor=preset.factor,
        cap=DELAY_SECONDS_MAX,
        jitter=_docs_jitter(preset, fraction) if c.is_docs else Jitter(JitterKind.PLUS_MINUS_HALF),
        span=span,
    )


def _docs_jitter(preset: Preset, fraction: float | None) -> Jitter:
    if fraction is None and any(preset == DOCS_PRESETS[name] for name in _WITHOUT_JITTER):
        return Jitter()
    return Jitter(JitterKind.ADDED, JITTER_DEFAULT if fraction is None else max(fraction, 0.0))
