"""What guards promise, in moments that are given: who begins, who is held, and until when."""

from random import Random

import pytest

from anew.guards.changing import CallEnd
from anew.guards.holding import tokens_of
from anew.guards.keeper import CallRequest, CallStart, Guards, Held, MissingStates
from anew.guards.state import CallId, GuardState, Phase, decode_state, encode_state
from anew.program.guard_rules import read_rules
from anew.program.guards import GuardKey, governing, matches

SECOND = 1_000_000_000


def rules(**patterns):
    found, problems = read_rules({name.replace("_", "/"): said for name, said in patterns.items()})
    assert problems == []
    return found


class World:
    """A dependency `api` and its callers, moment by moment."""

    def __init__(self, **limits):
        self.states = {}
        self.guards = Guards([rules(api=limits)], self.states, is_whole=True)
        self.now = 0

    @property
    def state(self):
        return self.states.setdefault("api", GuardState())

    def ask(self, name, *, at=None, key=None, priority=0, cost=0.0):
        self.now = self.now if at is None else round(at * SECOND)
        asked = CallRequest(call(name), "api", key or str(name), priority, cost)
        return self.guards.ask(asked, self.now)

    def end(self, name, *, at=None, ok=True, **what):
        self.now = self.now if at is None else round(at * SECOND)
        began = self.state.running.get(call(name).text, 0)
        ended = CallEnd(ok, not ok, began, **what)
        self.guards.woken.clear()
        self.guards.ended("api", ["api"], call(name), ended, self.now)
        return [one.run for one in self.guards.woken]


def call(name):
    return CallId(str(name), "step", 1)


# --- concurrency ----------------------------------------------------------------------------------


def test_so_many_calls_are_at_work_and_the_next_waits_behind_none():
    world = World(concurrency=2)
    assert isinstance(world.ask("a"), CallStart)
    assert isinstance(world.ask("b"), CallStart)
    held = world.ask("c")
    assert (held.guard, held.until, held.behind) == (GuardKey.CONCURRENCY, None, 0)
    assert world.ask("d").behind == 1


def test_a_call_that_ends_calls_the_one_that_waited_longest():
    world = World(concurrency=1)
    world.ask("a"), world.ask("b"), world.ask("c")
    assert world.end("a") == ["b"]
    assert isinstance(world.ask("c"), Held)  # not before the one that was called
    assert isinstance(world.ask("b"), CallStart)


def test_a_call_that_comes_later_does_not_overtake_one_that_is_held():
    world = World(concurrency=1)
    world.ask("a"), world.ask("b")
    world.end("a")
    assert world.ask("c").behind == 1


def test_who_is_called_and_does_not_come_is_passed_over():
    world = World(concurrency=1)
    world.ask("a"), world.ask("b"), world.ask("c")
    world.end("a", at=1)
    assert isinstance(world.ask("c", at=5), Held)
    assert isinstance(world.ask("c", at=12), CallStart)


def test_a_held_call_looks_again_by_itself_in_the_end():
    world = World(concurrency=1)
    world.ask("a")
    assert world.ask("b").look_at == 30 * SECOND


def test_a_lost_call_gives_its_place_to_the_next():
    world = World(concurrency=1)
    world.ask("a"), world.ask("b")
    world.guards.left("api", ["api"], call("a"), 0)
    assert [one.run for one in world.guards.woken] == ["b"]
    assert isinstance(world.ask("b"), CallStart)


def test_a_held_call_that_goes_away_leaves_the_queue():
    world = World(concurrency=1)
    world.ask("a"), world.ask("b"), world.ask("c")
    world.guards.left("api", ["api"], call("b"), 0)
    assert world.end("a") == ["c"]


# --- order ----------------------------------------------------------------------------------------


def begun_in_order(world, names):
    """Who begins, one after the other, when each is asked as soon as it is called."""
    found, at_work = [], "first"
    while True:
        woken = world.end(at_work)
        if not woken:
            return found
        [at_work] = woken
        assert isinstance(world.ask(at_work, key=names[at_work]), CallStart)
        found.append(at_work)


def test_keys_take_turns_however_many_calls_each_has():
    world = World(concurrency=1)
    world.ask("first")
    names = {"a1": "a", "a2": "a", "a3": "a", "b1": "b", "c1": "c", "c2": "c"}
    for name, key in names.items():
        world.ask(name, key=key)
    assert begun_in_order(world, names) == ["a1", "b1", "c1", "a2", "c2", "a3"]


def test_a_higher_priority_begins_first():
    world = World(concurrency=1)
    world.ask("first")
    world.ask("low", key="k"), world.ask("high", key="k", priority=5), world.ask("low2", key="k")
    assert begun_in_order(world, dict.fromkeys(["low", "high", "low2"], "k"))[0] == "high"


def test_a_hundred_keys_get_the_same_share():
    world, chance = World(concurrency=1), Random(7)
    world.ask("first")
    names = {f"{key}.{number}": str(key) for key in range(100) for number in range(10)}
    shuffled = list(names)
    chance.shuffle(shuffled)
    for name in shuffled:
        world.ask(name, key=names[name])
    shares = dict.fromkeys(names.values(), 0)
    for name in begun_in_order(world, names)[:500]:
        shares[names[name]] += 1
    assert set(shares.values()) == {5}


# --- rate -----------------------------------------------------------------------------------------


def test_the_window_of_a_rate_slides():
    world = World(rate={"count": 2, "per": "10s"})
    world.ask("a", at=0), world.ask("b", at=4)
    assert world.ask("c", at=5).until == 10 * SECOND
    assert world.ask("d", at=5).until == 14 * SECOND
    assert world.ask("e", at=5).until == 20 * SECOND
    assert isinstance(world.ask("c", at=10), CallStart)


def test_a_call_that_is_early_waits_until_its_moment():
    world = World(rate={"count": 1, "per": "10s"})
    world.ask("a", at=0), world.ask("b", at=1)
    assert world.ask("b", at=9).until == 10 * SECOND
    assert isinstance(world.ask("b", at=10), CallStart)


# --- budget ---------------------------------------------------------------------------------------


def paid(world):
    return world.guards.retry_cost("api", is_throttled=False, now=0).took == 14


def test_a_bucket_is_emptied_by_retries_and_filled_by_successes():
    world = World(budget={"capacity": 28})
    assert [paid(world) for _ in range(3)] == [True, True, False]
    world.ask("a")
    world.end("a", is_first=False, took=14)
    assert paid(world)


def test_a_retry_waits_until_the_bucket_has_enough():
    world = World(budget={"capacity": 14, "refill": 7, "on_empty": "wait"})
    assert paid(world)
    assert world.guards.retry_cost("api", is_throttled=False, now=0).owes == 14
    assert world.ask("a", at=0, cost=14).until == 2 * SECOND
    assert isinstance(world.ask("other", at=0), CallStart)  # it has nothing to pay
    begun = world.ask("a", at=2, cost=14)
    assert begun.paid == 14
    limits = world.guards.governing("api").scopes[0]
    assert tokens_of(limits.budget, world.state, 2 * SECOND) == 0


# --- cooldown and breaker -------------------------------------------------------------------------


def test_a_retry_after_holds_everyone():
    world = World(cooldown=True)
    world.ask("a")
    world.end("a", ok=False, cools_until=30 * SECOND)
    held = world.ask("b")
    assert (held.guard, held.until) == (GuardKey.COOLDOWN, 30 * SECOND)
    assert isinstance(world.ask("b", at=30), CallStart)


def tripped(**more):
    world = World(breaker={"failures": 2, "open": "30s", **more})
    for name in ("a", "b"):
        world.ask(name)
        world.end(name, ok=False)
    return world


def test_a_breaker_opens_after_failures_and_lets_a_probe_through():
    world = tripped()
    assert world.ask("c", at=1).until == 30 * SECOND
    world.ask("d", at=1)
    assert isinstance(world.ask("c", at=30), CallStart)
    assert world.ask("d", at=30).behind == 0


def test_a_probe_that_fails_opens_it_again():
    world = tripped()
    world.ask("c", at=30)
    world.end("c", at=31, ok=False)
    assert world.ask("d", at=31).until == 61 * SECOND


def test_after_good_probes_the_held_begin_in_growing_cohorts():
    world = tripped(cohort=2, growth=2, every="1s")
    names = [f"h{number}" for number in range(8)]
    for name in names:
        world.ask(name, at=1)
    world.ask("probe", at=30, priority=1)
    world.end("probe", at=30)
    moments = []
    for name in names:
        found = world.ask(name, at=30)
        moments.append(0 if isinstance(found, CallStart) else found.until // SECOND - 30)
    assert moments == [0, 0, 1, 1, 1, 1, 2, 2]


def test_a_breaker_closes_when_none_is_held():
    world = tripped()
    world.ask("c", at=30)
    world.end("c", at=31)
    assert world.state.phase is Phase.CLOSED


def test_few_failures_among_many_calls_trip_nothing():
    world = World(breaker={"failures": 2, "ratio": 0.5})
    for number in range(8):
        world.ask(number)
        world.end(number, ok=number > 1)
    assert world.state.phase is Phase.OPEN  # the first two of two
    world = World(breaker={"failures": 2, "ratio": 0.5})
    for number in range(8):
        world.ask(number)
        world.end(number, ok=number < 6)
    assert world.state.phase is Phase.CLOSED


# --- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "name", "fits"),
    [
        ("stripe", "stripe", True),
        ("stripe", "stripe/a/b", True),
        ("stripe", "stripes", False),
        ("stripe/*", "stripe/a", True),
        ("stripe/*", "stripe/a/b", False),
        ("stripe/*", "stripe", False),
        ("stripe/**", "stripe/a/b", True),
        ("*/eu", "stripe/eu", True),
        ("https://api.x.com:443", "https://api.x.com:443", True),
    ],
)
def test_patterns(pattern, name, fits):
    assert matches(pattern, name) is fits


def test_the_most_specific_pattern_gives_each_key():
    found = governing(
        [rules(s={"concurrency": 9, "cooldown": True}, s_a={"concurrency": 2})], "s/a"
    )
    by_scope = {one.scope: (one.concurrency, one.cooldown) for one in found.scopes}
    assert by_scope == {"s": (None, True), "s/a": (2, False)}


def test_the_rules_of_an_operator_come_first():
    operator, document = rules(s={"concurrency": 1}), rules(s_a={"concurrency": 5})
    [limits] = governing([operator, document], "s/a").scopes
    assert (limits.scope, limits.concurrency) == ("s", 1)


def test_a_limit_on_a_name_counts_everything_below_it():
    guards = Guards([rules(api={"concurrency": 1})], {}, is_whole=True)
    assert isinstance(guards.ask(CallRequest(call("a"), "api/a", "k"), 0), CallStart)
    assert isinstance(guards.ask(CallRequest(call("b"), "api/b", "k"), 0), Held)


def test_a_pattern_counts_each_name_by_itself():
    found, _ = read_rules({"api/*": {"concurrency": 1}})
    guards = Guards([found], {}, is_whole=True)
    assert isinstance(guards.ask(CallRequest(call("a"), "api/a", "k"), 0), CallStart)
    assert isinstance(guards.ask(CallRequest(call("b"), "api/b", "k"), 0), CallStart)


# --- what is kept ---------------------------------------------------------------------------------


def test_a_state_that_was_not_read_is_asked_for():
    guards = Guards([rules(api={"concurrency": 1})], {})
    with pytest.raises(MissingStates) as missing:
        guards.ask(CallRequest(call("a"), "api", "k"), 0)
    assert missing.value.scopes == {"api"}


def test_a_state_is_the_same_when_it_is_read_again():
    world = tripped()
    world.ask("c", at=1), world.ask("d", at=31)
    assert decode_state(encode_state(world.state)) == world.state


@pytest.mark.parametrize("seed", range(5))
def test_no_order_of_events_admits_too_many(seed):
    """Calls ask, end, are lost and go away at random; states are written and read in between."""
    chance = Random(seed)
    limits = {"concurrency": 3, "rate": {"count": 5, "per": "2s"}, "cooldown": True}
    found, states, now = rules(api=limits), {}, 0
    at_work, begun, names = set(), [], [str(number) for number in range(12)]
    for _ in range(2_000):
        now += chance.randrange(SECOND // 2)
        states = {name: decode_state(encode_state(state)) for name, state in states.items()}
        guards, name = Guards([found], states, is_whole=True), chance.choice(names)
        if name not in at_work:
            asked = CallRequest(call(name), "api", name, chance.choice([0, 0, 1]))
            if isinstance(guards.ask(asked, now), CallStart):
                at_work.add(name)
                begun.append(now)
                assert len(at_work) <= 3
                assert sum(at > now - 2 * SECOND for at in begun) <= 5
        elif chance.random() < 0.3:
            guards.left("api", ["api"], call(name), now)
            at_work.discard(name)
        else:
            cools = now + SECOND if chance.random() < 0.1 else None
            ended = CallEnd(chance.random() < 0.8, False, now, cools_until=cools)
            guards.ended("api", ["api"], call(name), ended, now)
            at_work.discard(name)
    assert len(begun) > 200
