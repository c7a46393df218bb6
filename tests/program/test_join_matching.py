"""Forks meet at the nearest join that all their branches reach, at their own depth."""

from __future__ import annotations

from anew.program.join_matching import match_joins


def ways(text: str) -> dict[str, list[str]]:
    """`a>b c>d` as what leads to what."""
    leads: dict[str, list[str]] = {}
    for pair in text.split():
        source, target = pair.split(">")
        leads.setdefault(source, []).append(target)
        leads.setdefault(target, [])
    return leads


def test_branches_meet_at_the_nearest_join_of_all() -> None:
    leads = ways("f>a f>b a>j b>c c>j j>k a>k")
    assert match_joins(leads, ["f"], ["j", "k"]) == {"f": "j"}


def test_a_join_that_one_branch_passes_by_is_not_theirs() -> None:
    leads = ways("f>a f>b a>i i>j b>j j>x")
    assert match_joins(leads, ["f"], ["i", "j"]) == {"f": "j"}


def test_nested_forks_have_their_own_joins_in_whatever_order_they_are_asked() -> None:
    leads = ways("f>g f>c g>a g>b a>k b>k k>j c>j j>x")
    expected = {"f": "j", "g": "k"}
    assert match_joins(leads, ["f", "g"], ["j", "k"]) == expected
    assert match_joins(leads, ["g", "f"], ["j", "k"]) == expected


def test_an_inner_fork_does_not_share_the_join_of_the_outer_one() -> None:
    leads = ways("f>g f>c g>a g>b a>j b>j c>j j>x")
    assert match_joins(leads, ["f", "g"], ["j"]) == {"g": "j", "f": None}


def test_branches_that_never_meet_have_no_join() -> None:
    assert match_joins(ways("f>a f>b a>j b>x"), ["f"], ["j"]) == {"f": None}
    assert match_joins(ways("f>a f>b a>x b>x"), ["f"], []) == {"f": None}


def test_a_branch_may_go_back_to_where_it_began() -> None:
    leads = ways("f>a f>b a>a a>f a>j b>j j>f j>x")
    assert match_joins(leads, ["f"], ["j"]) == {"f": "j"}


def test_forks_nested_deeper_than_pythons_stack() -> None:
    depth = 3000
    leads = ways(
        " ".join(f"f{n}>f{n + 1} f{n}>s{n} s{n}>j{n} j{n + 1}>j{n}" for n in range(depth))
        + f" f{depth}>a f{depth}>b a>j{depth} b>j{depth} j0>x"
    )
    forks, joins = [f"f{n}" for n in range(depth + 1)], [f"j{n}" for n in range(depth + 1)]
    assert match_joins(leads, forks, joins) == dict(zip(forks, joins, strict=True))
