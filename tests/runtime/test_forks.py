"""Forks: new runs that share the log of others, at every event of several real logs."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from anew.engine import events as e
from anew.engine.fold import evolve, fold
from anew.engine.fork_points import fork_point
from anew.engine.state import RunStatus
from anew.errors import ConfigError
from anew.lab.fork_preview import fork_preview
from anew.lab.replay import replay
from anew.runtime.bootstrap import open_engine
from anew.runtime.forks import ForkPoint, ForkRequest, Unfit
from anew.runtime.keys import KeyInUse
from anew.runtime.programs import read_document
from anew.runtime.run_logs import read_log
from anew.runtime.run_starts import StartRequest
from anew.store import RunFilter
from anew.views.effects import CallKey

LOOPED = """
metadata: {name: looped}
workflow:
  - step: items
    loop: {in: "{{ [1, 2, 3] }}", iterator: n, spec: {mode: parallel, max_in_flight: 2}}
    tool: {kind: shell, command: "echo items {{ iter.index }} {{ _attempt }} >> {{ workload.out }}"}
    next: [{step: none}, {step: flaky}]
  - step: none
    loop: {in: "{{ [] }}", iterator: n}
    tool: {kind: noop}
  - step: flaky
    tool:
      - name: flaky
        kind: shell
        command: "echo flaky - {{ _attempt }} >> {{ workload.out }}; test {{ _attempt }} -ge 2"
        spec: {policy: {rules: [{when: "{{ outcome.status == 'error' }}",
                                 then: {do: retry, attempts: 3, delay: 0}}]}}
      - {name: after, kind: shell, command: "echo after - {{ _attempt }} >> {{ workload.out }}"}
    next: {spec: {mode: inclusive}, arcs: [{step: left}, {step: right}]}
  - step: left
    tool: {kind: shell, command: "echo left - {{ _attempt }} >> {{ workload.out }}"}
    next: [{step: both}]
  - step: right
    tool: {kind: shell, command: "echo right - {{ _attempt }} >> {{ workload.out }}; exit 1"}
    next: [{step: both, when: "{{ event.name == 'step.failed' }}"}]
  - step: both
    tool: {kind: shell, command: "echo both - {{ _attempt }} >> {{ workload.out }}"}
"""
FORKED = """
digraph forked {
  dialect=docs; out="%s"
  start [shape=ellipse]; split [shape=hexagon]; end [shape=ellipse]
  left [shape=component tool_command="echo left - 1 >> %s"]
  right [shape=component tool_command="echo right - 1 >> %s" max_retries=1 retry_policy=none]
  meet [shape=invhouse join_policy=wait_all]
  after [shape=component tool_command="echo after - 1 >> %s"]
  start -> split; split -> left; split -> right; left -> meet; right -> meet; meet -> after
  after -> end
}
"""
ASKED = """
metadata: {name: asked}
workflow:
  - step: before
    tool: {kind: shell, command: "echo before - {{ _attempt }} >> {{ workload.out }}"}
    next: [{step: ask}]
  - step: ask
    tool: {kind: human, question: "Go on?", choices: ["yes", "no"]}
    next: [{step: after}]
  - step: after
    tool: {kind: shell, command: "echo after - {{ _attempt }} >> {{ workload.out }}"}
"""


class World:
    """An engine on a file, and what its runs left behind in `out`."""

    def __init__(self, engine, folder):
        self.engine = engine
        self.folder = folder
        self.out = folder / "out.txt"

    def document(self, text):
        name = "test.dot" if "digraph" in text else "test.yaml"
        return read_document(text.replace("%s", str(self.out)), str(self.folder / name))

    async def start(self, text):
        order = StartRequest(self.document(text), {"out": str(self.out)})
        return (await self.engine.start(order)).run

    async def ended(self, run):
        while True:
            still = await asyncio.wait_for(self.engine.people.until_blocked(run), 20)
            if still is None:
                return (await self.engine.wait(run)).status
            await self.engine.people.answer(run, "yes")
            await self.engine.adopt([run])

    async def log(self, run):
        return await read_log(self.engine.database.archive, run)

    async def replays(self, run):
        row = await self.engine.database.archive.run(run)
        program = (await self.engine.programs.get(row.digest)).program
        return replay(program, await self.log(run))

    def left(self):
        return self.out.read_text().splitlines() if self.out.exists() else []


@asynccontextmanager
async def a_world(folder):
    async with open_engine(str(folder / "anew.db"), grace_seconds=0) as engine:
        yield World(engine, folder)


def in_a_world(work, folder):
    async def play():
        async with a_world(folder) as world:
            await work(world)

    asyncio.run(play())


def kept_calls(log, at):
    """The lines whose outcomes are in the first events: `step iteration attempt`."""
    done = [one for one in log[:at] if isinstance(one, e.TaskProcessed)]
    return {
        f"{one.task} {'-' if one.iteration is None else one.iteration} {one.attempt}"
        for one in done
    }


@pytest.mark.parametrize("document", [LOOPED, FORKED, ASKED], ids=["loops", "graph", "person"])
def test_a_fork_at_any_event_ends_and_does_nothing_twice(tmp_path, document):
    async def work(world):
        old = await world.start(document)
        await world.ended(old)
        log = await world.log(old)
        begun = 0
        for at in range(2, len(log)):
            before = len(world.left())
            order = ForkRequest(old, ForkPoint(at), key=f"at-{at}")
            if fold(log[: fork_point(log, at)]).is_stopping:
                with pytest.raises(ConfigError, match="nothing left"):
                    await world.engine.fork(order)
                continue
            fork = (await world.engine.fork(order)).run
            await world.ended(fork)
            begun += 1
            again = world.left()[before:]
            plan = await world.engine.forks.plan(old, ForkPoint(at))
            assert not kept_calls(log, plan.at).intersection(again), at
            assert len(again) == len(set(again)), at
            assert await world.replays(fork) is None, at
            assert (await world.engine.fork(order)).run == fork
        assert begun > len(log) // 2
        assert await world.log(old) == log

    in_a_world(work, tmp_path)


FLOW = """
metadata: {name: flow}
workload: {region: eu, out: out.txt}
workflow:
  - step: one
    tool: {kind: shell, command: "echo one >> {{ workload.out }}; echo {{ workload.region }}"}
    next: [{step: two}]
  - step: two
    tool:
      - {name: look, kind: noop, result: {region: "{{ workload.region }}"}}
      - {name: send, kind: shell, command: "echo two >> {{ workload.out }}; exit 1"}
    next: [{step: three}]
  - step: three
    tool: {kind: noop, result: ["{{ one.stdout | trim }}", "{{ workload.region }}", "{{ run_id }}"]}
"""
MENDED = FLOW.replace("exit 1", "exit 0")


async def failed(world):
    run = await world.start(FLOW)
    assert await world.ended(run) is RunStatus.FAILED
    return run


def test_a_corrected_program_goes_on_from_the_event_before_the_failure(tmp_path):
    async def work(world):
        old = await failed(world)
        order = ForkRequest(old, ForkPoint(step="two"), world.document(MENDED))
        new = (await world.engine.fork(order)).run
        assert await world.ended(new) is RunStatus.DONE
        assert world.left() == ["one", "two", "two"]
        log = await world.log(new)
        cut = next(one for one in log if isinstance(one, e.RunPaused))
        was = await world.engine.database.archive.run(old)
        now = await world.engine.database.archive.run(new)
        assert cut.decided_by == was.digest == (await world.log(old))[0].digest
        assert now.digest == log[0].digest != was.digest
        assert now.labels == {"fork_of": str(old)}
        assert await world.replays(new) is None
        assert (await world.engine.wait(new)).last_result == ["eu", "eu", str(new)]

    in_a_world(work, tmp_path)


def test_a_task_at_work_at_the_cut_is_given_the_inputs_of_the_new_program_and_workload(tmp_path):
    async def work(world):
        old = await failed(world)
        log = await world.log(old)
        (at,) = (x.seq for x in log if isinstance(x, e.TaskStarted) and x.task == "send")
        workload = {"region": "us", "out": str(tmp_path / "other.txt")}
        order = ForkRequest(old, ForkPoint(at), world.document(MENDED), workload)
        new = (await world.engine.fork(order)).run
        assert await world.ended(new) is RunStatus.DONE
        assert (tmp_path / "other.txt").read_text() == "two\n"
        state = await world.engine.wait(new)
        assert state.last_result == ["eu", "us", str(new)]  # what was done stays as it was
        assert state.workload["region"] == "us"
        assert await world.replays(new) is None

    in_a_world(work, tmp_path)


@pytest.mark.parametrize("is_moved", [True, False], ids=["moved", "plain"])
def test_a_fork_of_a_fork_is_derived_again_wherever_it_is_cut(tmp_path, is_moved):
    # What the first step is given has the id of the run in it, and another command where moved.
    text = FLOW.replace("echo {{ workload.region }}", "echo {{ run_id }}")
    other = text.replace("echo one", "echo uno").replace("exit 1", "exit 0")

    async def work(world):
        old = await world.start(text)
        await world.ended(old)
        document = world.document(other) if is_moved else None
        first = (await world.engine.fork(ForkRequest(old, ForkPoint(9), document))).run
        await world.ended(first)
        log = await world.log(first)
        for at in range(2, len(log)):
            if fold(log[: fork_point(log, at)]).is_stopping:
                continue
            order = ForkRequest(
                first, ForkPoint(at), workload={"region": "us"} if at % 3 == 0 else {}
            )
            second = (await world.engine.fork(order)).run
            await world.ended(second)
            assert await world.replays(second) is None, at

    in_a_world(work, tmp_path)


def test_a_program_that_lacks_what_is_live_is_refused_with_every_reason(tmp_path):
    other = FLOW.replace("name: look, kind: noop", "name: look, kind: python, code: 'x=1'")
    other = other.replace("name: send", "name: sent")

    async def work(world):
        old = await failed(world)
        log = await world.log(old)
        (at,) = (x.seq for x in log if isinstance(x, e.TaskStarted) and x.task == "send")
        with pytest.raises(Unfit, match="task 'send' of step 'two', which is not there") as refused:
            await world.engine.fork(ForkRequest(old, ForkPoint(at), world.document(other)))
        (misfit,) = refused.value.misfits
        assert (misfit.step, misfit.task) == ("two", "send")
        assert str(misfit.span).endswith("test.yaml:8:11")
        assert len(await world.engine.database.archive.runs(RunFilter())) == 1

    in_a_world(work, tmp_path)


def test_a_run_that_is_over_says_from_where_it_could_go_on(tmp_path):
    async def work(world):
        old = await failed(world)
        with pytest.raises(ConfigError, match="Fork it at event 8, or from step 'two'"):
            await world.engine.fork(ForkRequest(old))
        with pytest.raises(ConfigError, match=r"was failing by event 16.*at event 8"):
            await world.engine.fork(ForkRequest(old, ForkPoint(16)))
        with pytest.raises(ConfigError, match="has the events 1 to 17; there is no 18"):
            await world.engine.fork(ForkRequest(old, ForkPoint(18)))
        with pytest.raises(ConfigError, match="nothing has started"):
            await world.engine.fork(ForkRequest(old, ForkPoint(1)))
        new = (await world.engine.fork(ForkRequest(old, ForkPoint(8), world.document(MENDED)))).run
        assert await world.ended(new) is RunStatus.DONE

    in_a_world(work, tmp_path)


def test_a_key_names_one_fork_of_one_run(tmp_path):
    async def work(world):
        old, other = await failed(world), await failed(world)
        one = await world.engine.fork(ForkRequest(old, ForkPoint(8), key="k"))
        same = await world.engine.fork(ForkRequest(old, key="k"))
        assert (same.run, one.is_new, same.is_new) == (one.run, True, False)
        with pytest.raises(KeyInUse, match="which is not a fork of run"):
            await world.engine.fork(ForkRequest(other, ForkPoint(8), key="k"))
        with pytest.raises(KeyInUse, match="which is not a retry of run"):
            await world.engine.retry(old, key="k")

    in_a_world(work, tmp_path)


def test_a_running_run_is_moved_and_its_question_is_asked_by_the_new_run(tmp_path):
    async def work(world):
        old = await world.start(ASKED)
        still = await asyncio.wait_for(world.engine.people.until_blocked(old), 20)
        assert [one.question for one in still.questions] == ["Go on?"]
        document = world.document(ASKED.replace("echo after", "echo later"))
        order = ForkRequest(old, document=document, cancels=True)
        new = (await world.engine.fork(order)).run
        assert (await world.engine.database.archive.run(old)).status is RunStatus.CANCELLED
        assert await world.ended(new) is RunStatus.DONE
        assert world.left() == ["before - 1", "later - 1"]
        assert (await world.log(old))[-1].reason == f"it continues as run {new}"
        assert await world.replays(new) is None

    in_a_world(work, tmp_path)


def test_a_fork_may_be_cut_while_the_old_run_was_paused(tmp_path):
    async def work(world):
        old = await world.start(ASKED)
        await asyncio.wait_for(world.engine.people.until_blocked(old), 20)
        await world.engine.pause(old, "lunch")
        new = (await world.engine.fork(ForkRequest(old))).run
        assert await world.ended(new) is RunStatus.DONE
        assert await world.replays(new) is None
        names = [one.name for one in await world.log(new)]
        assert names.count("run.paused") == 2

    in_a_world(work, tmp_path)


def test_the_preview_tells_what_is_kept_what_goes_on_and_which_effects_repeat(tmp_path):
    async def work(world):
        old = await failed(world)
        plan = await world.engine.forks.plan(old, ForkPoint(9), world.document(MENDED))
        preview = fork_preview(plan, {"region": "us"})
        assert [(one.step, one.visits, one.executions) for one in preview.reused] == [("one", 1, 1)]
        assert [(one.step, one.does) for one in preview.again] == [("two", "starts")]
        undone = [(one.step, one.task, one.executions) for one in preview.undone]
        assert undone == [("two", "look", 1), ("two", "send", 1)]
        (effect,) = preview.effects
        assert (effect.task, effect.kind, effect.key) == ("send", "shell", CallKey.NONE)
        assert not effect.is_certain
        assert preview.differs_at is None  # the new program changes nothing that is shared
        assert preview.notes == ["region: changed in the input, for what is decided from now on"]

    in_a_world(work, tmp_path)


def test_the_preview_says_where_the_new_program_would_have_decided_otherwise(tmp_path):
    async def work(world):
        old = await failed(world)
        otherwise = MENDED.replace("echo one", "echo uno")
        plan = await world.engine.forks.plan(old, ForkPoint(9), world.document(otherwise))
        assert fork_preview(plan).differs_at == 5  # the inputs of the first task
        gone = MENDED.replace("step: one", "step: uno").replace("one.stdout", "uno.stdout")
        plan = await world.engine.forks.plan(old, ForkPoint(9), world.document(gone))
        assert (plan.misfits, fork_preview(plan).differs_at) == ([], 2)

    in_a_world(work, tmp_path)


def test_the_children_of_a_fork_are_its_own(tmp_path):
    text = """
metadata: {name: parent}
workflow:
  - step: child
    tool: {kind: playbook, file: child.yaml, args: {out: "{{ workload.out }}"}}
"""
    (tmp_path / "child.yaml").write_text(ASKED.replace("name: asked", "name: child"))

    async def work(world):
        old = await world.start(text)
        await asyncio.wait_for(world.engine.people.until_blocked(old), 20)
        plan = await world.engine.forks.plan(old, ForkPoint())
        (effect,) = fork_preview(plan).effects
        assert (effect.what, effect.is_certain) == ("starts a child run of child.yaml", True)
        new = (await world.engine.fork(ForkRequest(old, cancels=True))).run
        assert await world.ended(new) is RunStatus.DONE
        archive = world.engine.database.archive
        (one,), (other,) = [await archive.runs(RunFilter(parent=run)) for run in (old, new)]
        assert (one.status, other.status) == (RunStatus.CANCELLED, RunStatus.DONE)

    in_a_world(work, tmp_path)


def test_references_to_secrets_are_opened_in_a_fork_too(tmp_path):
    (tmp_path / "gh.json").write_text('{"type": "bearer", "data": {"token": "t0ken-of-github"}}')
    text = """
metadata: {name: private}
keychain: [{name: gh, provider: file, path: gh.json}]
workflow:
  - step: one
    tool:
      kind: noop
      result: {token: "{{ keychain.gh.token }}"}
      spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {t: "{{ keychain.gh.token }}"}}}}]}}
    next: [{step: two}]
  - step: two
    tool: {kind: shell, command: "test \\"$TOKEN\\" = t0ken-of-github && echo same", env: {TOKEN: "{{ ctx.t }}"}}
"""

    async def work(world):
        old = await world.start(text)
        assert await world.ended(old) is RunStatus.DONE
        new = (await world.engine.fork(ForkRequest(old, ForkPoint(step="two")))).run
        assert await world.ended(new) is RunStatus.DONE
        assert "t0ken" not in repr(await world.log(new))
        assert await world.replays(new) is None

    in_a_world(work, tmp_path)


def test_a_step_is_given_the_time_that_was_left_of_its_deadline(tmp_path):
    text = """
metadata: {name: slow}
workflow:
  - step: slow
    spec: {policy: {lifecycle: {timeout_s: 2}}}
    tool: [{name: a, kind: noop}, {name: b, kind: shell, command: "test -e let"}]
"""

    async def work(world):
        old = await world.start(text)
        assert await world.ended(old) is RunStatus.FAILED
        log = await world.log(old)
        began = next(x.at for x in log if isinstance(x, e.StepStarted))
        (at,) = (x.seq for x in log if isinstance(x, e.TaskStarted) and x.task == "b")
        (tmp_path / "let").write_text("")
        plan = await world.engine.forks.plan(old, ForkPoint(at))
        labels, day = {}, 86_400 * 10**9
        beginning = plan.history(old, "later", labels=labels, workload={})
        state = fold(beginning.events_of(old))
        late = e.RunPaused(seq=at + 1, at=began + day, shared_with="1", later_by=day)
        (run,) = evolve(state, late).live_step_runs()
        assert run.began_at == began + day
        new = (await world.engine.fork(ForkRequest(old, ForkPoint(at)))).run
        assert await world.ended(new) is RunStatus.DONE

    in_a_world(work, tmp_path)
