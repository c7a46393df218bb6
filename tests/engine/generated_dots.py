"""Graphs for the engine to be tried on: forks and joins in every arrangement, people and gates.

The texts need not make sense to an author. Branches meet late, twice or never, ways lead out of a
branch, into another or back to its fork; those the checker refuses are left out by the caller.
"""

from random import Random

from msgspec import Struct

from anew.engine.outcome import Advice, Outcome, outcome_of
from anew.program.policy import Verdict

POLICIES = ("wait_all", "first_success", "quorum", "k_of_n")
ERRORS = ({"type": "TRANSIENT"}, {"type": "TERMINAL"}, {"kind": "python_error"})


class Words(Struct, frozen=True):
    dialect: str
    start: str
    end: str
    fork: str
    join: str
    human: str
    conditions: tuple[str, ...]


DOCS = Words(
    "docs", "ellipse", "ellipse", "hexagon", "invhouse", "house",
    ("status == 'FAILURE'", "status == 'SUCCESS'", "_retry_count > 0", "k == 1"),
)  # fmt: skip
SPEC = Words(
    "spec", "Mdiamond", "Msquare", "component", "tripleoctagon", "hexagon",
    ("outcome=fail", "outcome=success", "context.k=1"),
)  # fmt: skip


class Sketch:
    """One graph in the making. `f` and `j` are a fork and its join, where there is one."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.words = chance.choice((DOCS, SPEC))
        self.names = [f"n{index}" for index in range(chance.randint(2, 6))]
        self.branches = chance.choice((0, 2, 3, 3))
        self.edges: dict[tuple[str, str], str] = {}

    def text(self) -> str:
        lines = [self.graph(), *self.ends(), *map(self.node, self.names)]
        if self.branches:
            lines += self.fork()
        self.lead("s", "f" if self.branches and self.chance.random() < 0.7 else self.names[0])
        for number, name in enumerate(self.names):
            self.leave(number, name)
        lines += [f"{start} -> {to} {told}" for (start, to), told in self.edges.items()]
        return "digraph g {\n  " + "\n  ".join(lines) + "\n}\n"

    def graph(self) -> str:
        told = {"dialect": self.words.dialect, "max_visits": self.chance.randint(2, 6)}
        told |= {"max_steps": self.chance.randint(15, 60)}
        if self.words is DOCS and self.chance.random() < 0.3:
            told["fallback"] = self.chance.choice(self.names)
        if self.chance.random() < 0.2:
            told["on_failure"] = self.chance.choice(("route", "succeed"))
        return statement("graph", told)

    def ends(self) -> list[str]:
        return [
            statement("s", {"shape": self.words.start}),
            statement("x", {"shape": self.words.end}),
        ]

    def node(self, name: str) -> str:
        chance, words = self.chance, self.words
        shape = chance.choice(("box",) * 4 + ("diamond", words.human, words.fork, words.join))
        told: dict[str, object] = {"shape": shape}
        if chance.random() < 0.4:
            told["max_retries"] = chance.randint(0, 2)
        if chance.random() < 0.3:
            told["goal_gate"] = "true"
        if chance.random() < 0.3:
            told["retry_target"] = chance.choice([*self.names, *("f",) * bool(self.branches)])
        if shape == words.human and chance.random() < 0.5:
            told["timeout"] = chance.choice((2, 30))
        if shape == words.human and words is DOCS:
            told["timeout_action"] = chance.choice(("first", "fail", "skip"))
        if shape == words.join:
            told |= {"join_policy": chance.choice(POLICIES), "k": 1}
        return statement(name, told)

    def fork(self) -> list[str]:
        chance = self.chance
        fork, join = {"shape": self.words.fork}, {"shape": self.words.join}
        policy = {"join_policy": chance.choice(POLICIES), "k": 1}
        if chance.random() < 0.4:
            fork["max_parallel"] = chance.randint(1, 2)
        for _ in range(self.branches):
            first, second = chance.choice(self.names), chance.choice(self.names)
            self.lead("f", first)
            if chance.random() < 0.5:
                self.lead(first, second, self.told())
                self.lead(second, "j", self.told())
            self.lead(first, "j", self.told())
        if chance.random() < 0.2:
            self.lead("f", "j")
        self.lead("j", chance.choice(self.names), self.told())
        self.lead("j", "x")
        is_docs = self.words is DOCS
        return [
            statement("f", fork if is_docs else fork | policy),
            statement("j", join | policy if is_docs else join),
        ]

    def leave(self, number: int, name: str) -> None:
        chance = self.chance
        if number:
            self.lead(chance.choice(self.names[:number]), name, self.told())
        ends = ("x", "j") if self.branches else ("x",)
        self.lead(name, chance.choice([*self.names[number + 1 :], *ends]), self.told())
        if chance.random() < 0.3:
            self.lead(name, chance.choice(self.names), self.told())
        if self.branches and chance.random() < 0.2:
            self.lead(name, "f", self.told())

    def lead(self, start: str, to: str, told: str = "") -> None:
        self.edges.setdefault((start, to), told)

    def told(self) -> str:
        chance = self.chance.random()
        if chance < 0.4:
            return f'[condition="{self.chance.choice(self.words.conditions)}"]'
        return f'[label="[{self.chance.choice("YN")}] go"]' if chance < 0.6 else ""


def statement(name: str, told: dict[str, object]) -> str:
    attributes = ", ".join(f'{key}="{value}"' for key, value in told.items())
    return f"{name} [{attributes}]"


def some_outcome(chance: Random, mark: str) -> Outcome:
    """What a tool may say. It writes `mark`, so that its writing can be told from others'."""
    advice = Advice(
        verdict=chance.choice((None, None, Verdict.PARTIAL, Verdict.SKIPPED)),
        label=chance.choice((None, "y", "n")),
        suggested=[chance.choice(("n0", "n1", "x", "j"))],
        updates={mark: 1, chance.choice(("k", "score", "_own", "a.b")): chance.randint(0, 3)},
    )
    if chance.random() < 0.65:
        return outcome_of({"x": 1}, advice=advice)
    error = {"message": chance.choice(("boom", "bang")), **chance.choice(ERRORS)}
    return outcome_of(error=error, advice=advice)
