"""What code reads of its run (tools/python.md#context)."""

import pytest

from anew.engine.boundaries import Lost, Reported, Requested, Taken
from anew.engine.code_names import may_read_context, reads_context
from anew.engine.decide import decide
from anew.engine.outcome import outcome_of
from anew.engine.record import Moment
from anew.engine.state import RunState, StepRunKey
from anew.languages import load_text
from anew.program.kinds import kind_named

PYTHON = kind_named("python")


@pytest.mark.parametrize(
    "code",
    [
        "result = context['a']",
        "def f(): return context.get('a')\nresult = f()",
        "def main(context): return context",
        "async def main(context=None): return context",
        "result = [x for x in context]",
        "context = context or {}\nresult = context",
        "return context",
        "def f():\n    global context\n    return context",
        "f'{context}'",
    ],
)
def test_code_that_reads_context_is_found(code):
    assert reads_context(code)


@pytest.mark.parametrize(
    "code",
    [
        "result = 1",
        "result = {'context': 1}",
        "# context",
        "result = 'context'",
        "x.context",
        "def f(context): return context\nresult = f(1)",
        "def f():\n    context = 1\n    return lambda: context",
        "context = 1",
        "import context_tools",
        "context is broken(",
    ],
)
def test_other_code_is_not(code):
    assert not reads_context(code)


def test_an_input_of_that_name_is_no_context():
    assert may_read_context(PYTHON, {"code": "result = context"})
    assert not may_read_context(PYTHON, {"code": "result = context", "args": {"context": 1}})
    assert not may_read_context(kind_named("shell"), {"command": "context"})
    assert may_read_context(PYTHON, {"script": "it_is_read_later.py"})


DOCUMENT = """
workload: {rows: [7]}
workflow:
- {step: start, tool: {kind: noop}, next: {spec: {mode: inclusive}, arcs: [{step: code}, {step: other}]}}
- step: code
  tool: {kind: python, code: "result = context"}
- step: other
  tool:
  - set: {kind: noop, spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {moved: true}}}}]}}}
- step: each
  loop: {in: "{{ workload.rows }}", iterator: row}
  tool: {kind: python, code: "result = row"}
"""


class Run:
    """A run that the test moves by hand."""

    def __init__(self, entry="start"):
        text = f"executor: {{spec: {{entry_step: {entry}}}}}\n{DOCUMENT}"
        self.program = load_text(text, "d.yaml").program
        self.state = RunState()
        self.do(Requested("1", {}))

    def do(self, boundary):
        return decide(self.program, self.state, boundary, Moment(1, lambda: 0.5))

    def take(self, step, iteration=None):
        return self.do(Taken(StepRunKey(step, 1, iteration))).ask

    def end(self, step, result=None):
        key = StepRunKey(step, 1)
        self.take(step)
        self.do(Reported(key, outcome_of(result), self.state.step_run(key).started_seq))


def test_context_is_the_state_at_the_start_of_the_task():
    run = Run()
    run.end("start", {"n": 1})
    ask = run.take("code")
    run.end("other")
    assert run.state.ctx == {"moved": True}
    assert ask.context == {
        "workload": {"rows": [7]},
        "ctx": {},
        "steps": {"start": {"n": 1}},
        "execution_id": "1",
    }


def test_a_lost_workers_successor_is_told_where_its_context_was():
    run = Run()
    run.end("start")
    first = run.take("code")
    run.end("other")
    run.do(Lost(StepRunKey("code", 1)))
    again = run.take("code")
    assert again.started > first.started
    assert (again.context_at, again.context) == (first.started, None)


def test_code_in_a_loop_is_given_its_names():
    run = Run("each")
    run.take("each")
    ask = run.take("each", 0)
    assert ask.names == {"row": 7, "_index": 0, "loop_index": 0, "_total": 1}
    assert (ask.context_at, ask.context) == (None, None)
