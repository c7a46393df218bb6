"""The longest evaluations that the limits allow: CPU time of each, until it ends or is refused."""

from __future__ import annotations

import time
from typing import Any

from anew.expressions import ExpressionError, MappingScope, compile_template
from bench.figures import Row, row

ROUNDS = 3
MILLISECONDS_MAX = 250.0
_CHARS = 1024 * 1024

DATA: dict[str, Any] = {
    "big": "a" * _CHARS,
    "wide": "\U0001f600" * _CHARS,
    "signs": "".join(chr(0x10000 + n) for n in range(65_536)),
    "words": "ab " * (_CHARS // 3),
    "json": "[" + "0.1," * (_CHARS // 4 - 2) + "1]",
    "rows": list(range(90_000)),
    "texts": ["x" * 60 + str(n) for n in range(50_000)],
    "objects": [{"a": {"b": n}, "n": f"name {n}"} for n in range(25_000)],
}
TEMPLATES = {
    "trim a wide text": "{{ wide | trim(signs) }}",
    "strip in a loop": "{% for i in range(40000) %}{% set y = big.lstrip(signs) %}{% endfor %}",
    "startswith in a loop": "{% for i in range(9) %}{% set y = big.startswith(big) %}{% endfor %}",
    "isdigit in a loop": "{% for i in range(9) %}{% set y = wide.isdigit() %}{% endfor %}",
    "urlencode": "{{ wide | urlencode }}",
    "title": "{{ words[:700000] | title }}",
    "wordcount": "{{ words | wordcount }}",
    "upper of wide characters": "{% for i in range(6) %}{% set y = wide | upper %}{% endfor %}",
    "replace": "{% for i in range(2) %}{% set y = words | replace('b', 'cd') %}{% endfor %}",
    "from JSON": "{{ json | fromjson | length }}",
    "JSON in lines": "{{ objects[:4000] | tojson(2) | length }}",
    "sort": "{{ texts | sort | first }}",
    "group": "{{ objects | groupby('n') | length }}",
    "map": "{{ rows | map('string') | first }}",
    "select": "{{ objects | selectattr('a.b', 'gt', 5) | list | length }}",
    "unique objects": "{{ objects[:15000] | unique | length }}",
    "loop": "{% for r in rows %}{{ r }}{% endfor %}",
    "loop with a condition": "{% for r in rows if r % 2 == 0 %}{{ r }}{% endfor %}",
    "nested loops": "{% for a in range(220) %}{% for b in range(220) %}x{% endfor %}{% endfor %}",
    "comparisons": "{% for i in range(6) %}{% set y = rows == rows[:90000] %}{% endfor %}",
}


def measure() -> list[Row]:
    """One row per template."""
    scope = MappingScope(DATA)
    return [_row(name, compile_template(text).evaluate, scope) for name, text in TEMPLATES.items()]


def _row(name: str, evaluate: Any, scope: MappingScope) -> Row:
    taken, end = [], "served"
    for _ in range(ROUNDS):
        begun = time.process_time()
        try:
            evaluate(scope)
        except ExpressionError as error:
            end = f"refused: {error.message[:60]}"
        taken.append(1000 * (time.process_time() - begun))
    return row(
        f"evaluation: {name}",
        taken,
        "ms",
        peer=end,
        target=f"≤ {MILLISECONDS_MAX:g} ms",
        met=min(taken) <= MILLISECONDS_MAX,
    )
