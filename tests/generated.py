"""Hypothesis strategies for whole playbooks and the scripts to play against them."""

import json

from hypothesis import strategies as st

from anew.program.retry import BackoffKind

STEPS = ("start", "left", "right", "join", "end")
CONDITIONS = (
    "outcome.status == 'error'",
    "outcome.status == 'ok'",
    "outcome.http.status in [429, 503]",
    "outcome.error.retryable",
    "_attempt < 2",
    "ctx.n > 1",
    "rand() < 0.5",
    "iter.index == 1",
    "outcome.result.x / 0 > 1",  # raises where x is a number, is an error of its own elsewhere
    "nothing.at.all",
)
ARC_CONDITIONS = (
    "event.name == 'step.done'",
    "event.name == 'step.failed'",
    "event.name in ['loop.done', 'call.done']",
    "event.failed > 0",
    "ctx.n > 1",
    "rand() < 0.7",
    "event.visit < 3",
    "1 / 0",
)
VALUES = ("{{ (ctx.n | default(0)) + 1 }}", "{{ outcome.result.x }}", 7, "text", "{{ rand() }}")
DELAYS = (0, 0.5, 2, "500ms", "{{ rand() * 3 }}", "{{ ctx.n }}", "{{ 'x' }}", "{{ 0 - 1 }}")


def maybe(strategy):
    return st.none() | strategy


def pick(words):
    return st.sampled_from(words)


def without_none(mapping):
    return {key: value for key, value in mapping.items() if value is not None}


patches = st.dictionaries(pick(("n", "m")), pick(VALUES), max_size=2)


@st.composite
def retries(draw, labels):
    return without_none(
        {
            "do": "retry",
            "attempts": draw(maybe(pick((1, 2, 3, 4, "{{ ctx.n }}", "{{ 2 }}")))),
            "backoff": draw(maybe(pick([kind.value for kind in BackoffKind]))),
            "delay": draw(maybe(pick(DELAYS))),
            "max_delay": draw(maybe(pick((1, 3)))),
            "jitter": draw(maybe(pick((True, False, 0.3, "full", "equal", "decorrelated")))),
            "max_elapsed": draw(maybe(pick((1, 5)))),
            "honor_retry_after": draw(maybe(st.booleans())),
            "on_exhausted": draw(maybe(exhausted(labels))),
        }
    )


@st.composite
def exhausted(draw, labels):
    word = draw(pick(("continue", "break", "fail", "jump")))
    then = {"do": word, "set_ctx": draw(patches)}
    return {**then, "to": draw(pick(labels))} if word == "jump" else then


@st.composite
def directives(draw, labels):
    word = draw(pick(("continue", "retry", "jump", "break", "fail")))
    if word == "retry":
        then = draw(retries(labels))
    elif word == "jump":
        delay = draw(maybe(pick(DELAYS)))
        then = without_none({"do": "jump", "to": draw(pick(labels)), "delay": delay})
    else:
        then = {"do": word}
    return {**then, "set_ctx": draw(patches), "set_iter": draw(patches)}


@st.composite
def policies(draw, labels):
    rules = [
        {"when": condition, "then": draw(directives(labels))}
        for condition in draw(st.lists(pick(CONDITIONS), max_size=3))
    ]
    if draw(st.booleans()):
        rules.append({"else": {"then": draw(directives(labels))}})
    return without_none({"rules": rules, "on_unmatched": draw(maybe(st.just("fail")))})


@st.composite
def tasks(draw):
    labels = [f"t{n}" for n in range(draw(st.integers(1, 3)))]
    inputs = pick(({}, {"x": "{{ _prev }}"}, {"x": "{{ rand() }}"}, {"x": "{{ 1 + nothing }}"}))
    return [
        {label: {"kind": "noop", **draw(inputs), "spec": {"policy": draw(policies(labels))}}}
        for label in labels
    ]


@st.composite
def loops(draw):
    spec = {"mode": draw(pick(("sequential", "parallel"))), "max_in_flight": draw(pick((1, 2, 5)))}
    source = draw(pick(("{{ workload.items }}", "{{ workload.map }}", "{{ nothing }}", "{{ [] }}")))
    return {"in": source, "iterator": "item", "spec": spec}


@st.composite
def routers(draw):
    arcs = [
        without_none(
            {
                "step": draw(pick(STEPS)),
                "when": draw(maybe(pick(ARC_CONDITIONS))),
                "args": draw(
                    maybe(pick(({"a": 1}, {"a": "{{ event.name }}"}, {"a": "{{ 1/0 }}"})))
                ),
            }
        )
        for _ in range(draw(st.integers(0, 3)))
    ]
    return {"spec": {"mode": draw(pick(("exclusive", "inclusive")))}, "arcs": arcs}


@st.composite
def step_specs(draw):
    gates = ("ctx.n > 0", "args.a == 1", "rand() < 0.5", "1 / 0", "true")
    rules = [{"when": draw(pick(gates)), "then": {"allow": draw(st.booleans())}}]
    policy = without_none(
        {
            "admit": draw(maybe(st.just({"rules": rules}))),
            "failure": draw(maybe(st.just({"mode": "best_effort"}))),
        }
    )
    return without_none({"policy": policy, "join": draw(maybe(pick(("all", "each"))))})


@st.composite
def steps(draw, name):
    step = {
        "step": name,
        "spec": draw(step_specs()),
        "tool": draw(tasks()),
        "loop": draw(maybe(loops())),
        "next": draw(routers()),
    }
    return without_none(step)


@st.composite
def playbooks(draw):
    """A valid playbook as JSON text: everything the engine can do, bounded per step-run."""
    spec = {"limits": {"tasks_per_step_run": 30}}
    return json.dumps(
        {
            "apiVersion": "noetl.io/v2",
            "kind": "Playbook",
            "metadata": {"name": "generated"},
            "executor": {"spec": spec},
            "workload": {"items": [1, 2, 3], "map": {"k": "v"}},
            "workflow": [draw(steps(name)) for name in STEPS],
        }
    )


@st.composite
def scripts(draw):
    """Outcomes for the labels of those playbooks, and a seed for chance."""
    entry = st.one_of(
        st.builds(lambda x: {"result": {"x": x}}, st.integers(0, 3)),
        st.just({"error": {"kind": "server_error", "message": "503"}, "http": {"status": 503}}),
        st.just(
            {
                "error": {"kind": "rate_limit", "message": "429"},
                "http": {"status": 429, "headers": {"Retry-After": "3"}},
            }
        ),
        st.just({"result": {"status": "error", "message": "soft"}}),
    )
    timed = st.builds(
        lambda said, times, takes: {**said, "times": times, "takes": takes},
        entry,
        st.integers(1, 3),
        pick((0, 0.5, 1)),
    )
    keys = pick(("t0", "t1", "t2", "left", "start.t0", "join.t1"))
    outcomes = draw(st.dictionaries(keys, st.lists(timed, min_size=1, max_size=4), max_size=5))
    return {"outcomes": outcomes, "random": {"seed": draw(st.integers(0, 1000))}}
