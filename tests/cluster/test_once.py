"""What is said twice happens once: starts, transitions, answers, signals, children."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import pytest

from tests.cluster.asking import UNREACHED, Answer, ask
from tests.cluster.kit import Cluster, through
from tests.cluster.proxy import Proxy
from tests.cluster.scenarios import QUICK, Load, finish, held, release
from tests.crash.scenarios import PATIENT

AT_ONCE = 20
SERVERS = ("server-1", "server-2")
QUESTION = f"""
metadata: {{name: asking}}
{PATIENT}
workflow:
  - step: gate
    tool: {{kind: human, question: "Go on?", choices: ["[Y] Yes", "[N] No"]}}
    next: [{{step: after}}]
  - step: after
    tool: {{kind: effect, result: "{{{{ gate.label }}}}"}}
"""
SIGNAL = f"""
metadata: {{name: signalled}}
{PATIENT}
workflow:
  - step: paid
    tool: {{kind: wait, signal: paid}}
    next: [{{step: again}}]
  - step: again
    tool: {{kind: wait, signal: paid}}
    next: [{{step: after}}]
  - step: after
    tool: {{kind: effect, result: "{{{{ paid.n }}}} {{{{ again.n }}}}"}}
"""
FAMILY = f"""
metadata: {{name: family}}
{PATIENT}
workflow:
  - step: call
    spec: {{pool: parents}}
    tool: {{kind: playbook, path: child, args: {{x: 21}}}}
    next: [{{step: use}}]
  - step: use
    spec: {{pool: parents}}
    tool: {{kind: effect, result: "{{{{ call.label }}}}"}}
"""
ASKING_CHILD = f"""
metadata: {{name: child}}
{PATIENT}
workload: {{x: 0}}
workflow:
  - step: inner
    spec: {{pool: children}}
    tool: {{kind: effect, result: "{{{{ workload.x }}}}"}}
    next: [{{step: gate}}]
  - step: gate
    spec: {{pool: children}}
    tool: {{kind: human, question: "Well?", choices: [Good, Bad]}}
"""


@pytest.fixture
def two(cluster: Cluster) -> Cluster:
    """Two servers, with a worker at each."""
    for number, name in enumerate(SERVERS, start=1):
        cluster.server(name, "--no-workers")
        cluster.worker(f"worker-{number}", "--server", cluster.address(name))
    return cluster


def at_once(cluster: Cluster, path: str, bodies: list[Any], **headers: str) -> list[Answer]:
    """The same path at both servers in turn, all requests at the same time."""
    places = [cluster.address(SERVERS[number % 2]) for number in range(len(bodies))]

    def post(place: str, body: Any) -> Answer:
        return ask(place, path, method="POST", body=body, headers=headers, seconds=15.0)

    with ThreadPoolExecutor(len(bodies)) as threads:
        return list(threads.map(post, places, bodies))


@pytest.mark.daily
def test_twenty_starts_with_one_key_at_two_servers_are_one_run(two: Cluster) -> None:
    body = {"document": QUICK, "key": "the-one"}
    answers = at_once(two, "/api/v1/runs", [body] * AT_ONCE)
    assert {answer.status for answer in answers} <= {200, 201}, answers
    assert [answer.status for answer in answers].count(201) == 1
    (run,) = {answer.body["run"] for answer in answers}
    two.acknowledged["the-one"] = run
    two.until(run, "done")
    found = finish(two)
    assert [row["run"] for row in found["runs"]] == [run]
    assert len(two.effects()) == 1


class Posted(NamedTuple):
    """A request as it was sent."""

    path: str
    headers: dict[str, str]
    body: bytes


def requests_in(stream: bytes) -> list[Posted]:
    """The whole requests a connection has carried."""
    found = []
    while b"\r\n\r\n" in stream:
        head, _, rest = stream.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        headers = {name.lower(): value for name, _, value in (x.partition(": ") for x in lines)}
        length = int(headers.get("content-length", 0))
        if len(rest) < length:
            break
        found.append(Posted(first.split()[1], headers, rest[:length]))
        stream = rest[length:]
    return found


def test_a_transition_that_is_posted_once_more_changes_nothing(cluster: Cluster) -> None:
    streams: dict[int, bytes] = {}

    def heard(number: int, chunk: bytes) -> None:
        streams[number] = streams.get(number, b"") + chunk

    def commits() -> list[Posted]:
        posted = [one for stream in list(streams.values()) for one in requests_in(stream)]
        return [one for one in posted if one.path.endswith("store.commit")]

    for name in SERVERS:
        cluster.server(name, "--no-workers")
    proxy = cluster.proxy(cluster.address("server-1"), heard=heard)
    cluster.worker("worker-1", "--server", through(proxy, "http:"))
    run = cluster.start(held(cluster, "long"), "long")
    cluster.until_seen(1)
    before = cluster.events(run)
    first = commits()
    assert first
    again = [_post_again(cluster, one) for one in first]
    # In the middle of the run, the very same are taken for what they are.
    assert set(again) == {200}
    assert cluster.events(run) == before
    release(cluster, "long")
    load = Load(cluster, 9)
    load.start(4)
    found = finish(cluster)
    again = [_post_again(cluster, one) for one in commits()]
    assert set(again) <= {200, 409}
    assert cluster.read() == found


def _post_again(cluster: Cluster, posted: Posted) -> int:
    """At the other server, with nothing but the body the same."""
    kept = {name: posted.headers[name] for name in ("content-type", "anew-protocol")}
    place = cluster.address("server-2")
    return ask(place, posted.path, method="POST", body=posted.body, headers=kept).status


def test_an_answer_given_at_two_servers_at_once_is_heard_once(two: Cluster) -> None:
    run = two.start(QUESTION, "asking")
    two.until(run, "waiting")
    bodies = [{"answer": "yn"[n % 2], "by": f"person-{n}"} for n in range(AT_ONCE)]
    answers = at_once(two, f"/api/v1/runs/{run}/answer", bodies)
    taken = [n for n, answer in enumerate(answers) if answer.status == 200]
    assert len(taken) == 1, answers
    assert {answer.status for answer in answers} <= {200, 409}
    found = finish(two)
    (heard,) = [row for row in found["logs"][run] if row["name"] == "human.answered"]
    assert heard["data"]["by"] == f"person-{taken[0]}"
    assert len(two.effects()) == 1


def test_a_signal_sent_twice_counts_once_and_none_is_lost(two: Cluster) -> None:
    run = two.start(SIGNAL, "signalled")
    two.until(run, "waiting")
    path = f"/api/v1/runs/{run}/signals/paid"
    key = {"Idempotency-Key": "first"}
    answers = at_once(two, path, [{"n": 1}] * AT_ONCE, **key)
    assert {answer.status for answer in answers} == {202}
    assert [answer.body["accepted"] for answer in answers].count(True) == 1
    second = two.ask(path + "?id=second", server="server-2", method="POST", body={"n": 2})
    assert second.body["accepted"] is True
    shown = two.until(run, "done")
    assert shown["result"] == "1 2"
    finish(two)


def lost(proxy: Proxy, path: str, **request: Any) -> None:
    """A request that is done, and whose answer the client never hears."""
    proxy.lose_answers(path.encode(), answered=b"HTTP/1.1 ")
    with pytest.raises(UNREACHED):
        ask(f"http://127.0.0.1:{proxy.port}", path, method="POST", **request)
    assert proxy.lost == 1


def test_whoever_did_not_hear_the_answer_may_start_again(two: Cluster) -> None:
    proxy = two.proxy(two.address("server-1"))
    body = {"document": QUICK, "key": "the-one"}
    lost(proxy, "/api/v1/runs", body=body)
    again = two.ask("/api/v1/runs", server="server-2", method="POST", body=body)
    assert again.status == 200
    two.acknowledged["the-one"] = again.body["run"]
    finish(two)
    assert len(two.effects()) == 1


def test_whoever_did_not_hear_the_answer_may_signal_again(two: Cluster) -> None:
    run = two.start(SIGNAL, "signalled")
    proxy = two.proxy(two.address("server-1"))
    path = f"/api/v1/runs/{run}/signals/paid"
    lost(proxy, f"{path}?id=1", body={"n": 1})
    again = two.ask(f"{path}?id=1", server="server-2", method="POST", body={"n": 1})
    assert (again.status, again.body["accepted"]) == (202, False)
    two.ask(f"{path}?id=2", server="server-1", method="POST", body={"n": 2})
    assert two.until(run, "done")["result"] == "1 2"
    finish(two)


def test_whoever_did_not_hear_the_answer_is_told_that_a_person_has_answered(two: Cluster) -> None:
    run = two.start(QUESTION, "asking")
    two.until(run, "waiting")
    proxy = two.proxy(two.address("server-1"))
    path = f"/api/v1/runs/{run}/answer"
    lost(proxy, path, body={"answer": "y", "by": "ann"})
    again = two.ask(path, server="server-2", method="POST", body={"answer": "n", "by": "bob"})
    assert again.status == 409
    found = finish(two)
    heard = [row["data"]["by"] for row in found["logs"][run] if row["name"] == "human.answered"]
    assert heard == ["ann"]


def test_a_signal_that_comes_before_anyone_waits_is_kept(cluster: Cluster) -> None:
    cluster.server("server-1", "--no-workers")
    cluster.server("server-2", "--no-workers")
    run = cluster.start(SIGNAL, "signalled")
    for number in (1, 2):
        path = f"/api/v1/runs/{run}/signals/paid?id={number}"
        answer = cluster.ask(path, server="server-2", method="POST", body={"n": number})
        assert answer.status == 202
    cluster.worker("worker-1", "--server", cluster.address("server-1"))
    assert cluster.until(run, "done")["result"] == "1 2"
    finish(cluster)


def test_a_child_runs_on_another_worker_and_is_answered_through_another_server(
    cluster: Cluster,
) -> None:
    for name in SERVERS:
        cluster.server(name, "--no-workers")
    cluster.worker("father", "--server", cluster.address("server-1"), "--pool", "parents")
    cluster.worker("nurse", "--server", cluster.address("server-2"), "--pool", "children")
    cluster.register(ASKING_CHILD)
    run = cluster.start(FAMILY, "family", server="server-1")

    def is_asked() -> bool:
        return bool(cluster.ask(f"/api/v1/runs/{run}/questions").body["questions"])

    cluster.soon(is_asked, "the child to ask")
    answer = cluster.ask(
        f"/api/v1/runs/{run}/answer", server="server-2", method="POST", body={"answer": "good"}
    )
    assert answer.status == 200, answer
    assert cluster.until(run, "done")["result"] == "Good"
    finish(cluster)
    assert [row["step"] for row in cluster.effects(by="father")] == ["use"]
    assert [row["step"] for row in cluster.effects(by="nurse")] == ["inner"]
