"""How long hostile documents take to be refused, beside an honest document of the same size."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence

from anew.languages import load_text
from bench.figures import Row, row

ROUNDS = 5
# Refusing must not cost more than reading a good document of the largest size.
RATIO_MAX = 1.0

_LARGEST = 1024 * 1024
_INHERITORS = 1_000


def documents() -> dict[str, bytes]:
    """Each kind of hostile document, and what it is called in the table."""
    bomb = "a: &a [x]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(12)
    )
    return {
        "alias bomb": bomb.encode(),
        "20,000 levels of brackets": b"workflow: " + b"[" * 20_000,
        "20,000 levels of mappings": b"{a: " * 20_000,
        "duplicate keys": b"workflow: []\n" + b"a: 1\n" * 50_000,
        "object tag": b"workflow: !!python/object/apply:os.system ['true']\n",
        "tabs": b"workflow:\n\t- step: a\n",
        "binary": bytes(range(256)) * 400,
        "larger than allowed": b"# " + b"x" * (2 * _LARGEST),
        "one long line": b"workflow: '" + b"x" * (_LARGEST - 100) + b"'\n",
        "long expressions": _long_expressions(),
        "deep expression": b'workflow: [{step: a, next: [{step: a, when: "'
        + b"(" * 50_000
        + b'"}]}]',
    }


def _long_expressions() -> bytes:
    """A document of the largest size, full of the longest chains that are compiled."""
    chain = "a" + "<a" * 12_000
    # No two are the same: what is compiled once is not compiled again.
    count = _LARGEST // (len(chain) + 40)
    arcs = "".join(f'{{step: a, when: "{chain}<{n}"}},\n' for n in range(count))
    return f"workflow: [{{step: a, next: [{arcs}]}}]".encode()


def graphs() -> dict[str, str]:
    """Small graphs with one mistake that many nodes, or many edges, inherit."""
    names = [f"n{number}" for number in range(_INHERITORS)]
    ends = "start [shape=Mdiamond]; exit [shape=Msquare];"
    ellipses = "start [shape=ellipse]; exit [shape=ellipse];"
    chain = f"start -> {' -> '.join(names)} -> exit;"
    prompt = f'node [prompt="{"$nothing " * _INHERITORS}"];'
    condition = " OR ".join(["status == 'DONE'"] * _INHERITORS)
    return {
        "default prompt": f"digraph g {{ {ends} {prompt} {chain} }}",
        "default condition": f'digraph g {{ {ellipses} edge [condition="{condition}"]; {chain} }}',
    }


def measure() -> list[Row]:
    """One row per document; the ratio is to an honest one, for a graph with as many nodes."""
    honest = _seconds(_honest())
    rows = [_row(name, _seconds(text), honest) for name, text in documents().items()]
    honest = _seconds(_honest_graph(), "honest.dot")
    for name, text in graphs().items():
        taken = _seconds(text.encode(), "hostile.dot")
        rows.append(_row(name, taken, honest, peer="an honest graph with as many nodes"))
    return rows


def _honest() -> bytes:
    step = '- {step: sN, tool: {kind: noop}, next: [{step: s0, when: "{{ ctx.x == N }}"}]}\n'
    count = round(_LARGEST * 0.9) // (len(step) + 8)
    return ("workflow:\n" + "".join(step.replace("N", str(n)) for n in range(count))).encode()


def _honest_graph() -> bytes:
    node = 'nN [prompt="Do the next part of $goal"]; nN -> nM [condition="outcome=success"];\n'
    nodes = (node.replace("N", str(n)).replace("M", str(n + 1)) for n in range(_INHERITORS))
    ends = f"start [shape=Mdiamond]; exit [shape=Msquare]; start -> n0; n{_INHERITORS} -> exit;"
    return f"digraph g {{ goal=ship; {ends}\n{''.join(nodes)} }}".encode()


def _seconds(text: bytes, file: str = "hostile.yaml") -> list[float]:
    taken = []
    for _ in range(ROUNDS):
        before = time.process_time()
        load_text(text, file)
        taken.append(time.process_time() - before)
    return taken


def _row(
    name: str,
    seconds: Sequence[float],
    honest: Sequence[float],
    *,
    peer: str = "an honest document of 1 MiB",
) -> Row:
    ratio = statistics.median(seconds) / statistics.median(honest)
    return row(
        f"hostile: {name}",
        [1000 * one for one in seconds],
        "ms",
        peer=f"{peer}, {1000 * statistics.median(honest):,.0f} ms",
        ratio=round(ratio, 4),
        target=f"ratio ≤ {RATIO_MAX:g}",
        met=ratio <= RATIO_MAX,
    )
