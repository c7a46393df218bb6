"""The rules a DOT graph is checked by: id, severity and one sentence each.

Holds no checks: the reader raises `PARSE_RULES`, the linter `LINT_RULES`.
"""

from __future__ import annotations

from anew.program.findings import Finding, Severity
from anew.program.span import Span

_ERROR, _WARNING, _INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

# --- raised while a document is read ---------------------------------------------------------
PARSE_RULES: dict[str, tuple[Severity, str]] = {
    "dot.syntax": (_ERROR, "The text is not DOT at this place."),
    "dot.empty": (_ERROR, "A document holds one `digraph`."),
    "dot.several": (_ERROR, "A document holds one graph, not several."),
    "dot.undirected": (_ERROR, "A graph is a `digraph`, and its edges are written `->`."),
    "dot.strict": (_ERROR, "A graph is not `strict`: parallel edges have a meaning."),
    "dot.html": (_ERROR, "HTML-like text `<...>` is not a value."),
    "dot.port": (_ERROR, "A node in an edge has no port."),
    "dot.subgraph-endpoint": (_ERROR, "An edge joins nodes, not subgraphs."),
    "dot.string-unterminated": (_ERROR, "A quoted text ends with a quote."),
    "dot.comment-unterminated": (_ERROR, "A comment that starts with `/*` ends with `*/`."),
    "dot.attribute-twice": (
        _WARNING,
        "A statement gives each attribute once; the last one counts.",
    ),
    "dot.quoted-id": (_WARNING, "A node id is an identifier, also when it is quoted."),
    "dot.encoding": (_ERROR, "A document is UTF-8 text without NUL characters."),
    "dot.size": (_ERROR, "A document, its nesting and its numbers of nodes and edges are bounded."),
    "dot.dialect": (_ERROR, "The attribute `dialect` is `docs` or `spec`."),
    "mixed-dialect": (_ERROR, "A graph uses the terminal shapes of one dialect."),
    "stylesheet_syntax": (
        _ERROR,
        "A model stylesheet is a list of rules `selector { property: value; }`.",
    ),
    "dot.stylesheet-file": (_ERROR, "A stylesheet that is named by its path can be read."),
    "dot.stylesheet-property": (_WARNING, "A stylesheet sets the properties its dialect knows."),
}


def parse_finding(rule: str, place: Span, message: str, suggestion: str | None = None) -> Finding:
    """A finding of the reader, with the severity of its rule."""
    return Finding(PARSE_RULES[rule][0], rule, message, place, suggestion)


# --- lint rules go below: LINT_RULES -----------------------------------------------------------
LINT_RULES: dict[str, tuple[Severity, str]] = {
    # The ends of the graph, and the ways between them.
    "single-start": (_ERROR, "A docs graph has one start: an ellipse that no edge leads to."),
    "single-exit": (_ERROR, "A docs graph has one exit: an ellipse that no edge leaves."),
    "start_node": (_ERROR, "A spec graph has one start: an `Mdiamond`, or a node `start`."),
    "terminal_node": (_ERROR, "A spec graph has an exit: an `Msquare`, or a node `exit` or `end`."),
    "start_no_incoming": (
        _ERROR,
        "No edge leads to the start of a spec graph but one with `loop_restart`.",
    ),
    "exit_no_outgoing": (_ERROR, "No edge leaves an exit of a spec graph."),
    "reachability": (_ERROR, "Every node can be reached from the start."),
    "exit-reachable": (_ERROR, "Every node of a docs graph leads to the exit."),
    "orphan-edges": (_WARNING, "An edge of a docs graph names a node that no statement declares."),
    "undeclared-node": (
        _INFO,
        "An edge of a spec graph names a node that no statement declares; "
        "a warning where another node was probably meant.",
    ),
    "edge_target_exists": (_ERROR, "An edge names a node that is declared in another case."),
    "unique-names": (_ERROR, "A docs graph declares each node once."),
    # Nodes.
    "known-handlers": (_ERROR, "The shape or type of a node is none that docs graphs know."),
    "type_known": (_WARNING, "The shape or type of a node is none that spec graphs know."),
    "shape-confusion": (_WARNING, "A shape means something else in this dialect, it seems."),
    "missing-goal": (_WARNING, "An agent of a docs graph has no `goal`."),
    "prompt_on_llm_nodes": (_WARNING, "An agent of a spec graph has no `prompt` and no `label`."),
    "prompt-file": (_ERROR, "The file of a prompt can be read."),
    "command-missing": (_WARNING, "A tool node has no command, so it will fail for good."),
    "child-missing": (
        _WARNING,
        "A sub-pipeline or manager names no file of its child, so it will fail for good.",
    ),
    "child-file": (_WARNING, "The file of a child is not there, or cannot be read."),
    "unused-variables": (_WARNING, "A text or command holds a variable without a value."),
    "shell-code": (_WARNING, "A command makes code of a variable: `eval`, or `sh -c` with it."),
    "fidelity_valid": (_WARNING, "A fidelity is none of the modes there are."),
    "attribute-value": (_ERROR, "An attribute has a value that it cannot have."),
    "attribute-unknown": (
        _INFO,
        "An attribute is not known here and has no effect; "
        "a warning where another one was probably meant.",
    ),
    # Failures.
    "retry-target": (_ERROR, "A docs graph names a retry target or fallback that does not exist."),
    "retry_target_exists": (_WARNING, "A spec graph names a retry target that does not exist."),
    "goal_gate_has_retry": (_WARNING, "A goal gate of a spec graph has nowhere to go back to."),
    "high-retry-count": (_INFO, "A node is retried more than five times."),
    "high-jitter": (_WARNING, "The jitter of a node more than doubles its delays."),
    "fail-edge-missing": (_INFO, "A failure of a node has no route and ends the run."),
    "fail-edge-late": (_INFO, "A failure goes to the retry target before its edge is taken."),
    "unbounded-cycle": (_WARNING, "Only the default limits end a cycle."),
    # Edges.
    "valid-conditions": (_ERROR, "The condition of an edge cannot be parsed, in a docs graph."),
    "condition_syntax": (_ERROR, "The condition of an edge cannot be parsed, in a spec graph."),
    "condition-of-other-dialect": (_ERROR, "A condition is written in the other dialect."),
    "condition-word": (
        _WARNING,
        "A condition asks for a status by a word that it never is, or by another name.",
    ),
    "condition-not": (_INFO, "NOT comes before a comparison without parentheses."),
    "condition-unused": (_WARNING, "There is a condition where every edge is taken."),
    "choice-condition": (
        _WARNING,
        "The edge of a person's choice has a condition that does not ask for the answer.",
    ),
    "choice-twice": (_ERROR, "Two edges offer a person the same choice, so one is never taken."),
    "choice-clash": (
        _WARNING,
        "Two choices of a person say the same but for case and key, or have the same key.",
    ),
    "edge-retries": (_INFO, "`max_retries` on an edge is how often a run may take it."),
    # Branches.
    "k-missing": (_ERROR, "`join_policy=k_of_n` has no `k`."),
    "fan-in-missing": (_ERROR, "The branches of a split meet nowhere."),
    "fan-in-implied": (_WARNING, "The branches of a split meet at a node that is not a fan-in."),
    "restart-in-branch": (_ERROR, "No edge inside a branch of a split restarts the run."),
    "branch-escapes": (_WARNING, "A way leads out of a branch around the node where they meet."),
}
