"""Teach graphs two node types, a transform and a rule, and run one with an engine of one's own."""

import asyncio
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from anew import (
    Advice,
    Attribute,
    Extensions,
    Finding,
    FromQueue,
    Graph,
    Outcome,
    Recording,
    Severity,
    calling,
    error_of,
    function_tool,
    open_engine,
    outcome_of,
)

GRAPH = Path(__file__).with_name("release.dot")

# --- what the nodes do: functions of their inputs, ordinary or asynchronous ----------------------

tries = count(1)


def next_number(inputs: dict) -> Outcome:
    """An outcome says more than a result: here what to write to the context."""
    version = f"{inputs['major']}.1"
    return outcome_of({"version": version}, advice=Advice(updates={"version": version}))


async def notify(inputs: dict) -> dict | Outcome:
    """The chat is down at first. That is an outcome too, of a kind that a retry can help."""
    if next(tries) == 1:
        return outcome_of(error=error_of("connection", "the chat does not answer"))
    print(f"{inputs['channel']}: {inputs['text']}")
    return {"sent": True}


# --- what the language learns --------------------------------------------------------------------

# Types: nodes that call a tool with what their attributes say. Texts may hold variables.
number = calling(
    "number",
    "next_number",
    lambda node: {"major": node.text("major", "1")},
    writes=["version"],
)
notice = calling(
    "notify", "chat", lambda node: {"channel": node.text("channel"), "text": node.text("text")}
)


def patient(graph: Graph) -> Graph:
    """A transform: it gets the graph as it was read and returns the one to check and compile."""
    for node in graph.nodes.values():
        if node.text("type") == "notify":
            more = Attribute("max_retries", 3, "3", node.span, node.span, is_default=True)
            node.attributes.setdefault("max_retries", more)
    return graph


def without_goal(graph: Graph) -> Iterator[Finding]:
    """A rule: it looks at the graph and yields what it finds."""
    if not graph.text("goal"):
        yield Finding(Severity.WARNING, "own.goal", "the graph has no goal", graph.span)


extensions = Extensions(
    types=[number, notice],
    shapes={"cds": "number"},
    transforms=[patient],
    rules=[without_goal],
)
tools = {"next_number": function_tool(next_number), "chat": function_tool(notify)}


async def main(database: Path) -> None:
    interviewer = Recording(FromQueue(["yes"]))
    async with open_engine(
        database, tools=tools, extensions=extensions, interviewer=interviewer
    ) as engine:
        for finding in engine.check(GRAPH):
            print(finding.severity, finding.rule, finding.message)
        run = await engine.run(GRAPH, {"team": "ops"})
        for heard in interviewer.record:
            print(heard.question.question, heard.answer)
        for event in await engine.events(run):
            if event.name == "task.started":
                print(event.step, "attempt", event.attempt)
        print(await run.status(), await run.result())


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        asyncio.run(main(Path(folder) / "runs.db"))
