"""Compile how the branches of a fork are taken up where they meet."""

from __future__ import annotations

from anew.languages.dot.compilation import GraphCompilation
from anew.languages.dot.graph import Node
from anew.languages.dot.settings import given, text, whole, word
from anew.program.program import Gather, JoinPolicy

POLICIES = tuple(policy.value for policy in JoinPolicy)


def gather_of(c: GraphCompilation, join: Node | None, forks: list[Node]) -> Gather:
    """Docs writes the policy on the fan-in, spec on the fork; each is read in the other place too.

    Spec keeps what branches wrote apart, and a join there fails only when every branch has.
    """
    holders = [*forks, *([join] if join else [])]
    if c.is_docs:
        holders.reverse()
    stated = next((one for one in holders if given(one, "join_policy") is not None), None)
    said = None if stated is None else word(stated, "join_policy", POLICIES)
    k = next((found for one in holders if (found := whole(one, "k", least=1)) is not None), None)
    return Gather(
        policy=JoinPolicy(said) if said else JoinPolicy.WAIT_ALL,
        k=k,
        merges=c.is_docs,
        lenient=not c.is_docs,
        span=(stated or holders[0]).span,
    )


def lacks_k(node: Node) -> bool:
    """Whether the node asks for k branches and does not say how many."""
    return text(node, "join_policy").strip().lower() == JoinPolicy.K_OF_N and not given(node, "k")
