"""One minimal graph per lint rule, with the place of its finding."""

from __future__ import annotations

# Ends of each dialect, on a line of their own so that what follows stands in line 2.
DOCS = "digraph p { s [shape=ellipse] x [shape=ellipse]\n"
SPEC = "digraph p { s [shape=Mdiamond]; x [shape=Msquare];\n"
# A person with two ways, whose edges stand in line 3.
ASKED = SPEC + "h [shape=hexagon]; a [prompt=p]; s->h; a->x;\n"

# rule, document, line, column
LINT_CASES: list[tuple[str, str, int, int]] = [
    ("single-start", "digraph p { dialect=docs x [shape=ellipse]\na [goal=g]; a->x }", 1, 1),
    ("single-exit", DOCS + "y [shape=ellipse]; a [goal=g]; s->a; a->x; a->y }", 2, 1),
    ("start_node", "digraph p { x [shape=Msquare];\na [prompt=p]; a->x }", 1, 1),
    ("start_node", SPEC + "t [shape=Mdiamond]; s->x; t->x }", 2, 1),
    ("terminal_node", "digraph p { s [shape=Mdiamond];\na [prompt=p]; s->a }", 1, 1),
    ("start_no_incoming", SPEC + "a [prompt=p]; s->a->x; a->s }", 2, 27),
    ("exit_no_outgoing", SPEC + "a [prompt=p]; s->a->x; x->a }", 2, 24),
    ("reachability", DOCS + "a [goal=g]; s->x; a->x }", 2, 1),
    ("reachability", SPEC + "a [prompt=p]; s->x; a->x }", 2, 1),
    ("exit-reachable", DOCS + "a [goal=g]; b [goal=g]; s->a->x; a->b }", 2, 13),
    ("orphan-edges", DOCS + "s->a; a->x }", 2, 4),
    ("undeclared-node", SPEC + "s->a; a->x }", 2, 4),
    ("edge_target_exists", SPEC + "Plan [prompt=p]; s->Plan; Plan->x; s->plan; plan->x }", 2, 39),
    ("unique-names", DOCS + "a [goal=g]\na [goal=h]; s->a->x }", 3, 1),
    ("known-handlers", DOCS + "a [shape=star]; s->a->x }", 2, 10),
    ("known-handlers", DOCS + "a [type=robot]; s->a->x }", 2, 9),
    ("known-handlers", DOCS + "a [shape=ellipse]; s->a->x }", 2, 10),
    ("type_known", SPEC + "a [shape=star, prompt=p]; s->a->x }", 2, 10),
    ("type_known", SPEC + "a [type=robot, prompt=p]; s->a->x }", 2, 9),
    (
        "shape-confusion",
        SPEC + "a [shape=house]; b [prompt=p]; s->a; a->x [label=Yes]; a->b [label=No]; b->x }",
        2,
        10,
    ),
    ("shape-confusion", SPEC + 'a [shape=hexagon, child_graph="c.dot"]; s->a->x }', 2, 10),
    (
        "shape-confusion",
        DOCS + 'a [shape=hexagon]; s->a; a->j [label="[Y] Yes"]; j [shape=invhouse]; j->x }',
        2,
        10,
    ),
    ("missing-goal", DOCS + "a; s->a->x }", 2, 1),
    ("prompt_on_llm_nodes", SPEC + "a; s->a->x }", 2, 1),
    ("prompt-file", SPEC + 'a [prompt="@nowhere.md"]; s->a->x }', 2, 11),
    ("command-missing", DOCS + "a [shape=component]; s->a->x }", 2, 1),
    ("command-missing", SPEC + "a [shape=parallelogram, goal=g]; s->a->x }", 2, 1),
    (
        "fail-edge-late",
        DOCS + "a [goal=g max_retries=1 retry_target=b]; b [goal=g]; s->a->x; b->a;\n"
        "c [goal=g]; a->c [condition=\"status == 'FAILURE'\"]; c->x }",
        3,
        29,
    ),
    ("child-missing", DOCS + "a [shape=tab]; s->a->x }", 2, 1),
    ("child-file", DOCS + 'a [shape=tab child_dotfile="nowhere.dot"]; s->a->x }', 2, 28),
    ("child-file", SPEC + 'dotfile="nowhere.dot"; a [shape=folder]; s->a->x }', 2, 9),
    ("unused-variables", DOCS + 'a [goal="Write $feature."]; s->a->x }', 2, 16),
    ("unused-variables", SPEC + 'a [prompt="Write ${ctx.feature}."]; s->a->x }', 2, 18),
    (
        "unused-variables",
        SPEC + 'a [shape=parallelogram, tool_command="make ${missing.key}"]; s->a->x }',
        2,
        44,
    ),
    ("shell-code", SPEC + 'a [shape=parallelogram, tool_command="eval $it"]; s->a->x }', 2, 44),
    ("fidelity_valid", SPEC + "a [prompt=p, fidelity=most]; s->a->x }", 2, 23),
    ("attribute-value", DOCS + "a [goal=g max_retries=-1]; s->a->x }", 2, 23),
    ("attribute-value", DOCS + "a [goal=g retry_backoff=standard]; s->a->x }", 2, 25),
    ("attribute-value", SPEC + "a [prompt=p, allow_partial=maybe]; s->a->x }", 2, 28),
    ("attribute-value", SPEC + "a [prompt=p, timeout=soon]; s->a->x }", 2, 22),
    ("attribute-value", SPEC + "a [prompt=p]; s->a->x [weight=heavy] }", 2, 31),
    (
        "attribute-value",
        DOCS + "f [shape=hexagon]; j [shape=invhouse join_policy=k_of_n k=2]; s->f->j->x }",
        2,
        59,
    ),
    ("attribute-value", SPEC + "h [shape=hexagon, human.default_choice=y]; s->h->x }", 2, 40),
    ("attribute-unknown", SPEC + "a [prompt=p, tempo=2]; s->a->x }", 2, 14),
    ("attribute-unknown", SPEC + "a [prompt=p, max_retrys=2]; s->a->x }", 2, 14),
    ("retry-target", DOCS + "a [goal=g retry_target=b]; s->a->x }", 2, 24),
    ("retry-target", DOCS + "fallback=b; a [goal=g]; s->a->x }", 2, 10),
    ("retry_target_exists", SPEC + "a [prompt=p, retry_target=b]; s->a->x }", 2, 27),
    ("goal_gate_has_retry", SPEC + "a [prompt=p, goal_gate=true]; s->a->x }", 2, 24),
    ("high-retry-count", DOCS + "a [goal=g max_retries=6]; s->a->x }", 2, 23),
    ("high-jitter", DOCS + "a [goal=g max_retries=1 retry_jitter=1.5]; s->a->x }", 2, 38),
    ("attribute-value", DOCS + "a [goal=g max_retries=1 retry_jitter=11]; s->a->x }", 2, 38),
    ("fail-edge-missing", DOCS + "a [goal=g]; s->a->x }", 2, 1),
    ("unbounded-cycle", SPEC + "a [prompt=p]; b [prompt=p]; s->a->x; a->b->a }", 2, 1),
    ("valid-conditions", DOCS + 'a [goal=g]; s->a; a->x [condition="status =="] }', 2, 45),
    ("condition_syntax", SPEC + 'a [prompt=p]; s->a; a->x [condition="outcome=a &&"] }', 2, 50),
    (
        "condition-of-other-dialect",
        DOCS + 'a [goal=g]; s->a; a->x [condition="outcome=success"] }',
        2,
        36,
    ),
    (
        "condition-of-other-dialect",
        SPEC + "a [prompt=p]; s->a; a->x [condition=\"status == 'SUCCESS'\"] }",
        2,
        38,
    ),
    (
        "condition-word",
        DOCS + "a [goal=g]; s->a; a->x [condition=\"status == 'FAILED'\"] }",
        2,
        46,
    ),
    (
        "condition-word",
        DOCS + "a [goal=g]; s->a; a->x [condition=\"outcome == 'FAILURE'\"] }",
        2,
        47,
    ),
    (
        "condition-word",
        DOCS + "a [goal=g]; s->a; a->x [condition=\"statu == 'FAILURE'\"] }",
        2,
        36,
    ),
    (
        "condition-word",
        SPEC + 'a [prompt=p]; s->a; a->x [condition="outcom=fail"] }',
        2,
        38,
    ),
    ("condition-not", DOCS + 'a [goal=g]; s->a; a->x [condition="NOT n == 1"] }', 2, 36),
    (
        "condition-unused",
        DOCS + "f [shape=hexagon]; j [shape=invhouse]; a [goal=g]; s->f;\n"
        "f->a [condition=\"status == 'SUCCESS'\"]; a->j->x }",
        3,
        17,
    ),
    (
        "choice-condition",
        SPEC + "h [shape=hexagon]; a [prompt=p]; s->h; a->x; h->a [label=No];\n"
        'h->x [label=Yes, condition="outcome=success"] }',
        3,
        28,
    ),
    ("choice-twice", ASKED + "h->a [label=Yes]; h->x [label=Yes]; }", 3, 31),
    ("choice-twice", ASKED + "h->x [label=a]; h->a; }", 3, 20),
    ("choice-clash", ASKED + "h->a [label=Yes]; h->x [label=yes]; }", 3, 31),
    ("choice-clash", ASKED + 'h->a [label="[A] Yes"]; h->x [label="Y) Yes"]; }', 3, 37),
    ("choice-clash", ASKED + 'h->a [label="[Y] Yes"]; h->x [label="y - Never"]; }', 3, 37),
    ("edge-retries", DOCS + "a [goal=g]; s->a->x; a->a [max_retries=3] }", 2, 40),
    (
        "k-missing",
        DOCS + "f [shape=hexagon]; j [shape=invhouse join_policy=k_of_n]; s->f->j->x }",
        2,
        50,
    ),
    ("fan-in-missing", DOCS + "f [shape=hexagon]; a [goal=g]; s->f->a->x }", 2, 1),
    (
        "fan-in-implied",
        SPEC + "f [shape=component]; a [prompt=p]; b [prompt=p]; s->f->a->x; f->b->x }",
        2,
        1,
    ),
    (
        "branch-escapes",
        DOCS + "f [shape=hexagon]; a [goal=g]; b [goal=g]; j [shape=invhouse];\n"
        "s->f->a->j->x; f->b->j; a->x [condition=\"status == 'PARTIAL'\"] }",
        3,
        28,
    ),
    (
        "branch-escapes",
        SPEC + "f [shape=component]; a [prompt=p]; j [shape=tripleoctagon]; p [prompt=p];\n"
        "b [prompt=p, retry_target=p]; s->p->f->a->j->x; f->b->j }",
        3,
        27,
    ),
    (
        "restart-in-branch",
        SPEC + "f [shape=component]; a [prompt=p]; b [prompt=p]; j [shape=tripleoctagon];\n"
        's->f->a->j->x; f->b->j; b->f [condition="outcome=fail", loop_restart=true] }',
        3,
        28,
    ),
]
