"""Small graphs for the views, played against scripts."""

from __future__ import annotations

from typing import Any

from anew.lab.script import script_of
from anew.lab.simulate import Simulation, simulate
from anew.languages import load_text

FAIL = {"status": "FAILURE"}
FINAL = {"status": "FAILURE", "error": {"type": "TERMINAL", "message": "no such key"}}
ENDS = "s [shape=ellipse] x [shape=ellipse]"
# Three branches; the first that succeeds wins, the last one is still at work then.
RACE = f"""digraph race {{ {ENDS} f [shape=hexagon]; a; b; c; c2;
    j [shape=invhouse join_policy=first_success];
    s->f; f->a; f->b; f->c; a->j; b->j; c->c2; c2->j; j->x }}"""
RACED = {
    "a": [{**FAIL, "takes": 1}],
    "b": [{"status": "SUCCESS", "takes": 2}],
    "c": [{"takes": 1}],
    "c2": [{"takes": 9}],
}
ASK = f"""digraph ask {{ {ENDS} h [shape=house label="Ship?" %s]; r;
    s->h; h->x [label="[Y] Yes"]; h->r [label="[N] No"]; r->x }}"""
GATED = f"""digraph gated {{ {ENDS} a [goal_gate=true max_retries=1];
    s->a; a->x [condition="status IN ['SUCCESS', 'PARTIAL']"] }}"""
REDIRECTED = f"""digraph again {{ {ENDS} a [max_retries=2 retry_target=r retry_jitter=0]; r;
    s->a->x; r->a }}"""
DIAMOND = f"""digraph choice {{ {ENDS} a; c [shape=diamond]; f; s->a->c;
    c->x [condition="status == 'SUCCESS'"]; c->f [condition="status == 'FAILURE'"]; f->a }}"""
RESTARTS = """digraph line { s [shape=Mdiamond] x [shape=Msquare] a; b;
    s->a->b; b->a [loop_restart=true condition="outcome=fail"]; b->x }"""


def drawn(graph: str, **script: Any) -> Simulation:
    """The simulation of a graph."""
    loaded = load_text(graph, "graph.dot")
    assert loaded.program is not None, [f"{f.rule}: {f.message}" for f in loaded.findings]
    return simulate(loaded.program, script_of({"random": 0.0, **script}))
