"""How fast templates and conditions evaluate, beside Jinja2's sandbox.

Both sides compile once and evaluate the same thing in turns; the numbers are medians of process
CPU time, so that other work on the machine counts as little as possible.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from typing import Any

from jinja2.sandbox import SandboxedEnvironment

from anew.expressions import MappingScope, compile_expression, compile_template
from bench.figures import Row, paired, row

# How many times faster than the sandbox.
RATIO_TARGET = 5.0
ROUNDS = 15
SECONDS_PER_ROUND = 0.01

DATA: dict[str, Any] = {
    "outcome": {
        "status": "error",
        "http": {"status": 503, "headers": {"retry-after": "2"}},
        "error": {"kind": "server_error", "retryable": True, "message": "busy"},
        "result": {"data": {"items": [1, 2, 3], "has_more": True}},
    },
    "ctx": {"page": 4, "seen": list(range(20))},
    "workload": {"base_url": "https://api.example.com", "limit": 50},
    "rows": [{"id": n, "name": f"row {n}"} for n in range(10)],
    "_attempt": 2,
}

EXPRESSIONS = {
    "path": "outcome.http.status",
    "equality": "outcome.status == 'error'",
    "retry condition": "outcome.status == 'error' and outcome.http.status in [429, 502, 503]",
    "range": "outcome.http.status >= 500 and _attempt < 5",
    "arithmetic": "ctx.page + 1",
    "default": "workload.size | default(100)",
    "filter": "outcome.result.data['items'] | length",
    "choice": "'again' if outcome.error.retryable else 'stop'",
}
TEMPLATES = {
    "url": "{{ workload.base_url }}/items?page={{ ctx.page }}&limit={{ workload.limit }}",
    "text with if": "{% if outcome.status == 'error' %}failed{% else %}fine{% endif %}",
    "text with for": "{% for row in rows %}{{ row.id }}: {{ row.name }}\n{% endfor %}",
}


def measure() -> list[Row]:
    """One row per case: nanoseconds per evaluation, Jinja2's, and the ratio."""
    sandbox = SandboxedEnvironment()
    scope = MappingScope(DATA)
    rows = []
    for name, text in EXPRESSIONS.items():
        ours = compile_expression(text)
        theirs = sandbox.compile_expression(text, undefined_to_none=False)
        rows.append(_row(f"expression: {name}", _call(ours.evaluate, scope), _call(theirs, DATA)))
    for name, text in TEMPLATES.items():
        ours = compile_template(text)
        template = sandbox.from_string(text)
        rows.append(
            _row(f"template: {name}", _call(ours.evaluate, scope), _call(template.render, DATA))
        )
    return rows


def _call(function: Callable[..., Any], argument: Any) -> Callable[[int], float]:
    """Measures `times` calls: CPU seconds."""

    def run(times: int) -> float:
        started = time.process_time()
        for _ in range(times):
            function(argument)
        return time.process_time() - started

    return run


def _row(name: str, ours: Callable[[int], float], theirs: Callable[[int], float]) -> Row:
    our_times, their_times = _times(ours), _times(theirs)
    our_seconds, their_seconds = [], []
    gc.disable()
    for _ in range(ROUNDS):
        our_seconds.append(ours(our_times) / our_times)
        their_seconds.append(theirs(their_times) / their_times)
    gc.enable()
    ratio = paired(their_seconds, our_seconds)
    return row(
        name,
        [1e9 * one for one in our_seconds],
        "ns",
        peer=f"Jinja2, {1e9 * statistics.median(their_seconds):,.0f} ns",
        ratio=round(1 / ratio, 3),
        target=f"ratio ≤ {1 / RATIO_TARGET:g}",
        met=ratio >= RATIO_TARGET,
    )


def _times(run: Callable[[int], float]) -> int:
    """How many calls fill a round."""
    run(100)
    per_call = max(run(1000) / 1000, 1e-8)
    return max(int(SECONDS_PER_ROUND / per_call), 10)
