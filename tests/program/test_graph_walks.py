"""Walks through graphs find what is defined, whatever the graph."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from anew.program.graph_walks import backwards, components, cyclic, reached

nodes = st.integers(0, 6)
graphs = st.dictionaries(nodes, st.lists(nodes, max_size=4))


def ahead(leads: dict[int, list[int]], node: int) -> set[int]:
    """Where one way or more leads, as it is defined: nothing new after as many rounds as nodes."""
    found = set(leads.get(node, ()))
    for _ in range(7):
        found |= {target for one in found for target in leads.get(one, ())}
    return found


@given(graphs, st.lists(nodes))
def test_what_is_reached_is_all_that_ways_lead_to(leads: dict[int, list[int]], first: list[int]):
    expected = {target for node in first for target in ahead(leads, node)}
    assert reached(leads, first) == {*first, *expected}


@given(graphs, nodes)
def test_what_leads_to_a_node_is_reached_from_it_backwards(leads: dict[int, list[int]], node: int):
    leading = {one for one in range(7) if node in ahead(leads, one)}
    assert reached(backwards(leads), [node]) == {node, *leading}


@given(graphs, nodes)
def test_what_can_come_back_is_cyclic(leads: dict[int, list[int]], first: int):
    known = reached(leads, [first])
    assert cyclic(leads, [first]) == {node for node in known if node in ahead(leads, node)}


@given(graphs, st.lists(nodes))
def test_each_part_comes_before_those_it_leads_to(leads: dict[int, list[int]], first: list[int]):
    parts = components(leads, first)
    assert sorted(node for part in parts for node in part) == sorted(reached(leads, first))
    for number, part in enumerate(parts):
        for later in parts[number + 1 :]:
            assert not any(ahead(leads, node) & {*part} for node in later)
        for node in part:
            assert {*part} - {node} <= ahead(leads, node)


def test_a_path_may_be_longer_than_the_stack_of_python() -> None:
    leads = {node: [node + 1] for node in range(20_000)}
    assert len(components(leads, [0])) == len(reached(leads, [0])) == 20_001
