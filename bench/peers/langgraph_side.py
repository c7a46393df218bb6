"""LangGraph doing the durable workloads: `langgraph_side WORKLOAD SIZE PLACE` prints JSON.

A folder is the place of a SQLite file for its SqliteSaver (WAL, synchronous=FULL); at a PostgreSQL
address it is the PostgresSaver. A step is a node in a superstep of its own, and durability="sync"
has the checkpoint written before the next begins. Nobody resumes a run but its caller.
"""

from __future__ import annotations

import operator
import os
import sqlite3
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from itertools import count
from typing import Annotated, Any, TypedDict

from bench.peers import killing
from bench.peers.measuring import (
    BACKOFF_SECONDS,
    FAILURES,
    RUN_STEPS,
    Attempts,
    Sample,
    is_address,
    one_by_one,
    play,
    say_begun,
    timed,
    wait_for_word,
)

graphs: Any = import_module("langgraph.graph")
types: Any = import_module("langgraph.types")

CONNECTIONS = 8
# Threads that invoke graphs: it has nothing of its own that plays several runs.
THREADS = 4
ITEMS_AT_ONCE = 8
KILLED = "killed"

numbers = count()


class Count(TypedDict):
    done: int


class Items(TypedDict):
    items: list[int]
    results: Annotated[list[int], operator.add]


class Item(TypedDict):
    item: int


def noop(state: Count) -> Count:
    return {"done": state["done"] + 1}


def steps(size: int, place: str) -> Sample:
    saver = _saver(place)
    graph = again_and_again(noop, size, saver)
    _warm(saver, place)
    return timed(lambda: _run(graph, {"done": 0}, size))


def runs(size: int, place: str) -> Sample:
    saver = _saver(place)
    graph = again_and_again(noop, RUN_STEPS, saver)
    _warm(saver, place)
    return timed(lambda: _together(graph, [{"done": 0}] * size, THREADS))


def latency(size: int, place: str) -> Sample:
    saver = _saver(place)
    graph = again_and_again(noop, RUN_STEPS, saver)
    _warm(saver, place)
    return one_by_one(lambda: _run(graph, {"done": 0}, RUN_STEPS), size)


def items(size: int, place: str) -> Sample:
    saver = _saver(place)
    graph = for_each(saver)
    _warm(saver, place)
    asked: Items = {"items": list(range(size)), "results": []}
    ended: list[Items] = []
    say_begun()
    sample = timed(lambda: ended.append(_run(graph, asked, 1, max_concurrency=ITEMS_AT_ONCE)))
    assert len(ended[0]["results"]) == size
    return sample


def retries(size: int, place: str) -> Sample:
    saver = _saver(place)
    graph = flaky(Attempts(), 0.0, saver)
    _warm(saver, place)
    states: list[Count] = [{"done": number} for number in range(size)]
    sample = timed(lambda: _together(graph, states, THREADS))
    return {**sample, "attempts_in_log": _failures_kept(graph, size) >= size * FAILURES}


def backoff(size: int, place: str) -> Sample:
    attempts, saver = Attempts(), _saver(place)
    graph = flaky(attempts, BACKOFF_SECONDS, saver)
    _warm(saver, place)
    _together(graph, [{"done": number} for number in range(size)], size)
    return {"late_ms": attempts.late_ms()}


def cold(size: int, place: str) -> Sample:
    graph = again_and_again(noop, size, _saver(place))
    return timed(lambda: _run(graph, {"done": 0}, size))


def resume(size: int, place: str) -> Sample:
    wait_for_word(place)
    sample = killing.resumed_side("bench.peers.langgraph_side", size, place, "recovered")
    return {**sample, "is_automatic": False}


def begun(size: int, place: str) -> Sample:
    _run(noted(size, place), {"done": 0}, size, thread=KILLED)
    return {}


def recovered(size: int, place: str) -> Sample:
    """None instead of a state is how the caller has it go on."""
    _run(noted(size, place), None, size, thread=KILLED)
    return {}


def noted(size: int, place: str) -> Any:
    def note(state: Count) -> Count:
        killing.step(sys.argv[-1], state["done"])
        return {"done": state["done"] + 1}

    return again_and_again(note, size, _saver(place))


def again_and_again(node: Any, times: int, saver: Any) -> Any:
    """A graph of one node that leads to itself."""
    graph = graphs.StateGraph(Count)
    graph.add_node("step", node)
    graph.add_edge(graphs.START, "step")
    graph.add_conditional_edges(
        "step", lambda state: "step" if state["done"] < times else graphs.END
    )
    return graph.compile(checkpointer=saver)


def for_each(saver: Any) -> Any:
    graph = graphs.StateGraph(Items)
    graph.add_node("work", lambda state: {"results": [state["item"]]}, input_schema=Item)
    graph.add_conditional_edges(
        graphs.START, lambda state: [types.Send("work", {"item": one}) for one in state["items"]]
    )
    graph.add_edge("work", graphs.END)
    return graph.compile(checkpointer=saver)


def flaky(attempts: Attempts, delay_seconds: float, saver: Any) -> Any:
    """A graph whose one node fails; the state tells the runs apart."""

    def fail(state: Count) -> Count:
        attempts.call(str(state["done"]))
        return state

    policy = types.RetryPolicy(
        initial_interval=delay_seconds,
        backoff_factor=1.0,
        max_attempts=FAILURES + 1,
        jitter=False,
        retry_on=ConnectionError,
    )
    graph = graphs.StateGraph(Count)
    graph.add_node("step", fail, retry_policy=policy)
    graph.add_edge(graphs.START, "step")
    graph.add_edge("step", graphs.END)
    return graph.compile(checkpointer=saver)


def _together(graph: Any, states: Sequence[Count], threads: int) -> None:
    """A run for each state, named by its place among them."""
    with ThreadPoolExecutor(threads) as pool:
        named = [(state, _thread(number)) for number, state in enumerate(states)]
        list(pool.map(lambda one: _run(graph, one[0], RUN_STEPS, thread=one[1]), named))


def _run(graph: Any, state: Any, steps: int, *, thread: str | None = None, **more: Any) -> Any:
    config = {
        "configurable": {"thread_id": thread or _thread(-1 - next(numbers))},
        "recursion_limit": steps + 1,
        **more,
    }
    return graph.invoke(state, config, durability="sync")


def _thread(number: int) -> str:
    """Several processes may share a database."""
    return f"run {number} of {os.getpid()}"


def _failures_kept(graph: Any, size: int) -> int:
    """How many failed attempts its own history of the runs shows."""
    return sum(
        task.error is not None
        for number in range(size)
        for state in graph.get_state_history({"configurable": {"thread_id": _thread(number)}})
        for task in state.tasks
    )


def _warm(saver: Any, place: str) -> None:
    """The first run of a process is slower."""
    _run(again_and_again(noop, RUN_STEPS, saver), {"done": 0}, RUN_STEPS)
    wait_for_word(place)


def _saver(place: str) -> Any:
    if is_address(place):
        return _postgres_saver(place)
    connection = sqlite3.connect(f"{place}/langgraph.sqlite", check_same_thread=False)
    saver = import_module("langgraph.checkpoint.sqlite").SqliteSaver(connection)
    saver.setup()
    return saver


def _postgres_saver(address: str) -> Any:
    """Its guide asks for autocommit and rows as dictionaries."""
    pool = import_module("psycopg_pool").ConnectionPool(
        address,
        min_size=CONNECTIONS,
        max_size=CONNECTIONS,
        kwargs={
            "autocommit": True,
            "prepare_threshold": 0,
            "row_factory": import_module("psycopg.rows").dict_row,
        },
    )
    saver = import_module("langgraph.checkpoint.postgres").PostgresSaver(pool)
    saver.setup()
    return saver


WORKLOADS = {
    work.__name__: work
    for work in (steps, runs, latency, items, retries, backoff, cold, resume, begun, recovered)
}

if __name__ == "__main__":
    play(WORKLOADS, {})
