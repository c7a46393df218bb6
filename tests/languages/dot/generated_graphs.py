"""Random graphs of both dialects, and random scripts for them, from one source of chance.

Most are valid: every node can be reached, and can reach the exit. Conditions, caps, labels and
jumps make the way through them hard to guess, small visit limits keep it short.
"""

from __future__ import annotations

from random import Random
from typing import Any

from msgspec import Struct

from anew.languages.dot.graph import DotDialect

NAMES = ("a", "b", "c", "d", "e")
LABELS = ("[Y] Yes", "N) No", "M - Maybe", "later")
# How people write the labels above, and what fits none of them.
ANSWERS = ("y", "Y", "yes", "n", "No", "MAY", "m", "later", "1", "2", "nonsense")
ERROR_TYPES = ("TRANSIENT", "TIMEOUT", "TERMINAL", "UNKNOWN")
DOCS_CONDITIONS = (
    "status == 'SUCCESS'",
    "status == 'FAILURE'",
    "status != 'SUCCESS'",
    "status IN ['PARTIAL', 'SKIPPED']",
    "NOT status == 'SUCCESS'",
    "status == 'FAILURE' AND error.type == 'TERMINAL'",
    "error.type == 'TRANSIENT' OR k == 1",
    "error_type == 'TIMEOUT'",
    "preferred_label == 'later'",
    "_retry_count >= 1",
    "retry_count == 0 AND status == 'FAILURE'",
    "k > 1",
    "context.k == 1",
    "k != 1",
    "NOT k",
    "k",
    "word CONTAINS 'o'",
    "word STARTS_WITH 'n' OR word ENDS_WITH 'd'",
    "(k == 2 OR word == 'good') AND NOT status == 'FAILURE'",
)
SPEC_CONDITIONS = (
    "outcome=success",
    "outcome=fail",
    "outcome!=success",
    "outcome=partial_success",
    "outcome=skipped",
    "outcome=yes",
    "outcome = success && context.k = 1",
    "outcome!=fail && word!=good",
    "preferred_label=later",
    "k=2",
    "context.k!=1",
    "context.word",
    "word=good && outcome=fail",
)


class Case(Struct):
    text: str
    script: dict[str, Any]


class _Words(Struct):
    """What differs between the dialects on the surface."""

    start: str
    exit: str
    human: str
    conditions: tuple[str, ...]
    statuses: tuple[str, ...]


WORDS = {
    DotDialect.DOCS: _Words(
        "ellipse",
        "ellipse",
        "house",
        DOCS_CONDITIONS,
        ("SUCCESS", "FAILURE", "FAILURE", "PARTIAL", "SKIPPED"),
    ),
    DotDialect.SPEC: _Words(
        "Mdiamond",
        "Msquare",
        "hexagon",
        SPEC_CONDITIONS,
        ("success", "fail", "fail", "partial_success", "retry", "skipped", "yes"),
    ),
}


def case_of(chance: Random, dialect: DotDialect) -> Case:
    return _Maker(chance, dialect).case()


class _Maker:
    def __init__(self, chance: Random, dialect: DotDialect) -> None:
        self._chance = chance
        self._is_docs = dialect is DotDialect.DOCS
        self._words = WORDS[dialect]
        self._names = list(NAMES[: chance.randint(1, len(NAMES))])
        shapes = ("box", "box", "box", "box", "diamond", self._words.human)
        self._shapes = {name: chance.choice(shapes) for name in self._names}
        self._workers = [name for name in self._names if self._shapes[name] == "box"]

    def case(self) -> Case:
        lines = [f"s [shape={self._words.start}]", f"x [shape={self._words.exit}]"]
        lines.append(_statement("graph", self._graph()))
        lines += [_statement(name, self._node(name)) for name in self._names]
        pairs = self._pairs()
        lines += [self._edge(pair, pairs) for pair in pairs]
        text = "digraph g {\n  " + "\n  ".join(lines) + "\n}\n"
        scripted = [name for name in self._names if self._shapes[name] != "diamond"]
        tapes = {name: self._tape(name) for name in scripted}
        outcomes = {name: tape for name, tape in tapes.items() if tape}
        return Case(text, {"outcomes": outcomes, "random": self._chance.choice((0.0, 0.5, 1.0))})

    def _one_in(self, number: int) -> bool:
        return self._chance.randrange(number) == 0

    def _graph(self) -> dict[str, object]:
        found: dict[str, object] = {"max_visits": self._chance.randint(1, 5)}
        if self._one_in(5):
            found["on_failure"] = self._chance.choice(("route", "succeed", "exit"))
        if self._one_in(5):
            found["retry_on_timeout"] = self._one_in(2)
        jumps = ("fallback",) if self._is_docs else ("retry_target", "fallback_retry_target")
        for key in jumps:
            if self._workers and self._one_in(3):
                found[key] = self._chance.choice(self._workers)
        if not self._is_docs and self._one_in(4):
            found["default_max_retries"] = self._chance.randint(0, 2)
        return found

    def _node(self, name: str) -> dict[str, object]:
        shape = self._shapes[name]
        found: dict[str, object] = {} if shape == "box" else {"shape": shape}
        if shape == "diamond":
            return found
        if self._one_in(2):
            found["max_retries"] = self._chance.randint(0, 3)
        if self._one_in(4):
            found["goal_gate"] = True
        if self._one_in(5):
            found["retry_on_timeout"] = self._one_in(2)
        targets = [other for other in self._workers if other != name]
        jumps = ("retry_target",) if self._is_docs else ("retry_target", "fallback_retry_target")
        for key in jumps:
            if targets and self._one_in(4):
                found[key] = self._chance.choice(targets)
        own = self._docs_attributes() if self._is_docs else self._spec_attributes()
        return found | own | (self._deadline() if shape == self._words.human else {})

    def _docs_attributes(self) -> dict[str, object]:
        found: dict[str, object] = {}
        if self._one_in(2):
            presets = ("none", "linear", "exponential", "aggressive")
            found["retry_backoff"] = self._chance.choice(presets)
        if self._one_in(3):
            found["retry_jitter"] = self._chance.choice((0, 0.1, 0.5))
        return found

    def _spec_attributes(self) -> dict[str, object]:
        found: dict[str, object] = {}
        if self._one_in(3):
            presets = ("standard", "linear", "aggressive", "patient")
            found["retry_policy"] = self._chance.choice(presets)
        if self._one_in(3):
            found["allow_partial"] = self._one_in(2)
        return found

    def _deadline(self) -> dict[str, object]:
        if self._one_in(2):
            return {}
        action = {"timeout_action": self._chance.choice(("first", "fail", "skip"))}
        return {"timeout": 10} | (action if self._is_docs and self._one_in(2) else {})

    def _pairs(self) -> list[tuple[str, str]]:
        """Every node is entered from an earlier one and leaves for a later one; and some more."""
        names, chance = self._names, self._chance
        pairs = [("s", names[0])]
        for number, name in enumerate(names):
            if number:
                pairs.append((chance.choice(names[:number]), name))
            pairs.append((name, chance.choice([*names[number + 1 :], "x"])))
        more = range(chance.randint(0, 4))
        pairs += [(chance.choice(names), chance.choice([*names, "x"])) for _ in more]
        return list(dict.fromkeys(pairs))

    def _edge(self, pair: tuple[str, str], pairs: list[tuple[str, str]]) -> str:
        source, target = pair
        found: dict[str, object] = {}
        place = [other for other in pairs if other[0] == source].index(pair)
        is_human = self._shapes.get(source) == self._words.human
        if place < len(LABELS) and (is_human or self._one_in(3)):
            found["label"] = LABELS[place]
        elif is_human:
            found["label"] = f"to {target}"
        if source != "s" and not is_human and self._one_in(2):
            found["condition"] = self._chance.choice(self._words.conditions)
        if self._one_in(4):
            found["weight"] = self._chance.randint(-1, 2)
        if source != "s" and self._one_in(6):
            found["max_retries"] = self._chance.randint(1, 2)
        return _statement(f"{source} -> {target}", found)

    def _tape(self, name: str) -> list[dict[str, Any]]:
        if self._shapes[name] == self._words.human:
            return [self._answer() for _ in range(self._chance.randint(1, 4))]
        return [self._outcome() for _ in range(self._chance.randint(0, 4))]

    def _answer(self) -> dict[str, Any]:
        found: dict[str, Any] = {"answer": self._chance.choice(ANSWERS)}
        if self._one_in(3):
            found["takes"] = self._chance.choice((4, 10, 11))
        return found

    def _outcome(self) -> dict[str, Any]:
        status = self._chance.choice(self._words.statuses)
        found: dict[str, Any] = {"status": status}
        if status in ("FAILURE", "fail", "retry") and self._one_in(2):
            found["error"] = self._error()
        if self._one_in(3):
            found["label"] = self._chance.choice((*LABELS, "yes", "NO", "unheard of"))
        if self._one_in(3):
            names = [*NAMES, "x"]
            self._chance.shuffle(names)
            found["suggested"] = names[: self._chance.randint(1, 3)]
        if self._one_in(2):
            found["context"] = {
                "k": self._chance.randint(0, 2),
                "word": self._chance.choice(("good", "none", "")),
            }
            found["context"].pop(self._chance.choice(("k", "word", "")), None)
        if self._one_in(5):
            found["times"] = 2
        return found

    def _error(self) -> dict[str, Any]:
        found: dict[str, Any] = {"type": self._chance.choice(ERROR_TYPES)}
        if self._one_in(3):
            found["retryable"] = self._one_in(2)
        if self._one_in(4):
            found["message"] = self._chance.choice(("first", "second"))
        return found


def _statement(subject: str, attributes: dict[str, object]) -> str:
    listed = ", ".join(f"{key}={_written(value)}" for key, value in attributes.items())
    return f"{subject} [{listed}]" if listed else subject


def _written(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


POLICIES = ("wait_all", "first_success", "quorum", "k_of_n")
FORK_DEPTH_MAX = 2


def fork_case_of(chance: Random) -> Case:
    """A docs graph of nested forks whose branches end at different moments."""
    return _ForkMaker(chance).case()


class _ForkMaker:
    """Blocks in a row; a block is a node, a node with its repair, or a fork with its join."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._lines: list[str] = []
        self._outcomes: dict[str, list[dict[str, Any]]] = {}
        self._count = 0

    def case(self) -> Case:
        first, last = self._row(0, 1)
        after, end = self._row(FORK_DEPTH_MAX, 1)
        has_fallback = self._chance.randrange(3) == 0
        ends = ["s [shape=ellipse]", "x [shape=ellipse]", f"s -> {first}", f"{end} -> x"]
        graph = [f"graph [fallback={self._node('')}]"] if has_fallback else []
        text = "\n  ".join([*ends, *graph, *self._lines, *self._exits(last, after)])
        return Case(f"digraph g {{\n  {text}\n}}\n", {"outcomes": self._outcomes, "random": 0.5})

    def _row(self, depth: int, length: int) -> tuple[str, str]:
        """The first and the last node of some blocks."""
        first, last = self._block(depth)
        for _ in range(self._chance.randint(0, length)):
            following, end = self._block(depth)
            self._lines += self._exits(last, following)
            last = end
        return first, last

    def _exits(self, name: str, following: str) -> list[str]:
        lines = [f"{name} -> {following}"]
        if self._chance.randrange(2) == 0:
            lines.append(f"{name} -> {following} [condition=\"status == 'FAILURE'\"]")
        return lines

    def _block(self, depth: int) -> tuple[str, str]:
        if depth < FORK_DEPTH_MAX and self._chance.randrange(3 if depth else 4):
            return self._fork(depth)
        name = self._node(self._attributes())
        return name, name

    def _attributes(self) -> str:
        found = [f"max_retries={self._chance.randint(1, 2)}"] if self._chance.randrange(2) else []
        # A gate that has retries would jump into the middle of a branch.
        found += ["goal_gate=true"] if not found and self._chance.randrange(6) == 0 else []
        found += ["retry_backoff=aggressive"] if self._chance.randrange(2) else []
        return " ".join(found)

    def _node(self, attributes: str) -> str:
        self._count += 1
        name = f"n{self._count}"
        self._lines.append(f"{name} [{attributes}]" if attributes else name)
        self._outcomes[name] = [self._outcome() for _ in range(self._chance.randint(1, 3))]
        return name

    def _outcome(self) -> dict[str, Any]:
        status = self._chance.choice(("SUCCESS", "SUCCESS", "FAILURE", "PARTIAL"))
        # So fine a grain that no two sums of them are the same.
        found: dict[str, Any] = {"status": status, "takes": self._chance.randint(1, 10**9) / 1e8}
        if self._chance.randrange(2):
            key = self._chance.choice(("k", "word", "other"))
            found["context"] = {key: self._chance.randint(0, 10**9)}
        return found

    def _fork(self, depth: int) -> tuple[str, str]:
        self._count += 1
        fork, join = f"f{self._count}", f"j{self._count}"
        width = self._chance.randint(2, 4)
        policy = self._chance.choice(POLICIES)
        k = f" k={self._chance.randint(1, width)}" if policy == "k_of_n" else ""
        self._lines.append(f"{fork} [shape=hexagon]")
        self._lines.append(f"{join} [shape=invhouse join_policy={policy}{k}]")
        for _ in range(width):
            first, last = self._row(depth + 1, 1)
            self._lines.append(f"{fork} -> {first}")
            self._lines += self._exits(last, join)
        return fork, join
