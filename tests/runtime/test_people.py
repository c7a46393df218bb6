"""Runs that ask people: who may answer, what an answer does, and what nobody's answer does."""

import asyncio

import pytest

from anew.credentials import Credential
from anew.engine import events as e
from anew.engine.state import RunStatus
from anew.errors import ConfigError
from anew.runtime.interviewers import AutoApprove, FromCallback, FromQueue, Recording
from anew.runtime.questions import is_blocked
from anew.store import WaitReason
from anew.stores.memory import MemoryDatabase
from tests.runtime.hold import Hold
from tests.runtime.test_control import World, _gate_is_a_kind, in_a_world  # noqa: F401
from tests.virtual import CountedDatabase, VirtualClock

ASK = """
workflow:
  - step: ask
    tool: {kind: human, question: "Ship it?", choices: ["[Y] Yes", "[N] No"]}
    next: [{step: last}]
  - step: last
    tool: {kind: noop, result: "{{ ask.label }}"}
"""
TWO = """
workflow:
  - step: start
    tool: {kind: noop}
    next: [{step: one}, {step: two}]
  - step: one
    tool: {kind: human, question: "One?", choices: [Yes, No]}
  - step: two
    tool: {kind: human, question: "Two?", choices: [Yes, No]}
"""
TWICE = """
workflow:
  - step: ask
    tool:
      - {name: first, kind: human, question: "First?", choices: [Yes, No]}
      - {name: second, kind: human, question: "Second?", choices: [Yes, No]}
"""
BESIDE = """
workflow:
  - step: start
    tool: {kind: noop}
    next: [{step: ask}, {step: work}]
  - step: ask
    tool: {kind: human, question: "Ship it?", choices: [Yes, No]}
  - step: work
    tool: {kind: gate}
"""
TIMED = """
workflow:
  - step: ask
    tool: {kind: human, question: "Ship it?", choices: [Yes, No], timeout: 60, timeout_action: first}
    next: [{step: last}]
  - step: last
    tool: {kind: noop, result: "{{ ask.label }}"}
"""


async def still(world, run):
    found = await asyncio.wait_for(world.engine.people.until_blocked(run), 10)
    return [] if found is None else found.questions


async def status(world, run):
    return (await world.database.archive.run(run)).status


def is_silence(commit):
    return any(isinstance(event, e.HumanTimedOut) for event in commit.events)


def test_a_run_waits_for_a_person_and_goes_on_with_the_answer(tmp_path):
    async def work(world):
        run = await world.start(ASK)
        [question] = await still(world, run)
        assert (question.question, question.choices) == ("Ship it?", ["[Y] Yes", "[N] No"])
        assert await status(world, run) is RunStatus.WAITING
        [job] = await world.database.archive.jobs(run)
        assert (job.reason, job.due_at) == (WaitReason.PERSON, None)
        await world.engine.people.answer(run, " n ", by="ann")
        assert (await world.ended(run)).last_result == "[N] No"
        [answered] = [x for x in await world.log(run) if isinstance(x, e.HumanAnswered)]
        assert (answered.answer, answered.label, answered.by) == ("n", "[N] No", "ann")
        assert await still(world, run) == []

    in_a_world(work, tmp_path, slots=1)


def test_an_answer_that_fits_no_choice_changes_nothing(tmp_path):
    async def work(world):
        run = await world.start(ASK)
        await still(world, run)
        before = await world.names(run)
        with pytest.raises(ConfigError, match=r"'maybe' is none .* \[Y\] Yes, \[N\] No"):
            await world.engine.people.answer(run, "maybe")
        assert await world.names(run) == before

    in_a_world(work, tmp_path)


def test_what_cannot_be_answered_is_told(tmp_path):
    async def work(world):
        people = world.engine.people
        with pytest.raises(ConfigError, match="there is no run 7"):
            await people.answer(7, "y")
        run = await world.start(BESIDE.replace("kind: human", "kind: gate"))
        await world.entered()
        with pytest.raises(ConfigError, match="has no open question"):
            await people.answer(run, "y")
        await world.engine.cancel(run)
        with pytest.raises(ConfigError, match=r"has ended \(cancelled\)"):
            await people.answer(run, "y")

    in_a_world(work, tmp_path)


def test_of_several_open_questions_one_must_be_named(tmp_path):
    async def work(world):
        people, run = world.engine.people, await world.start(TWO)
        assert {question.key.step for question in await still(world, run)} == {"one", "two"}
        with pytest.raises(ConfigError, match=r"2 open questions.*--step one.*--step two"):
            await people.answer(run, "yes")
        with pytest.raises(
            ConfigError, match=r"step 'three' .* has no open question now; open: one, two"
        ):
            await people.answer(run, "yes", step="three")
        await people.answer(run, "yes", step="two")
        await people.answer(run, "no")
        state = await world.ended(run)
        assert [state.results[step].result["label"] for step in ("one", "two")] == ["No", "Yes"]

    in_a_world(work, tmp_path)


def test_of_two_answers_at_the_same_time_one_is_refused(tmp_path):
    async def work(world):
        run = await world.start(ASK)
        await still(world, run)
        held = Hold(world.database.store, "load", after=True)
        slow = asyncio.create_task(world.engine.people.answer(run, "yes", by="bob"))
        await held.reached()  # both have seen the question open
        await world.engine.people.answer(run, "no", by="ann")
        held.let_go()
        with pytest.raises(ConfigError, match="not open any more"):
            await slow
        with pytest.raises(ConfigError, match=r"answered already by ann: \[N\] No|has ended"):
            await world.engine.people.answer(run, "yes")
        assert (await world.ended(run)).last_result == "[N] No"
        assert (await world.names(run)).count("human.answered") == 1

    in_a_world(work, tmp_path)


def test_an_answer_to_one_question_is_never_taken_for_the_next(tmp_path):
    async def work(world):
        people, run = world.engine.people, await world.start(TWICE)
        [first] = await still(world, run)
        await people.answer(run, "yes")
        [second] = await still(world, run)
        assert (first.key, first.question, second.question) == (second.key, "First?", "Second?")
        with pytest.raises(ConfigError, match="not open any more"):
            await people.answer(run, "no", asked=first.asked)
        await people.answer(run, "no", asked=second.asked)
        labels = {x.task: x.label for x in await world.log(run) if isinstance(x, e.HumanAnswered)}
        assert labels == {"first": "Yes", "second": "No"}

    in_a_world(work, tmp_path)


def test_a_slow_answer_is_refused_when_the_next_question_is_open_by_then(tmp_path):
    async def work(world):
        run = await world.start(TWICE)
        await still(world, run)
        held = Hold(world.database.store, "load", after=True)
        slow = asyncio.create_task(world.engine.people.answer(run, "no"))
        await held.reached()  # it has read which question is open, and is slow from here on
        await world.engine.people.answer(run, "yes")
        await still(world, run)
        held.let_go()
        with pytest.raises(ConfigError, match="not open any more"):
            await slow

    in_a_world(work, tmp_path)


def test_a_run_with_a_call_at_work_beside_its_question_is_not_waiting(tmp_path):
    async def work(world):
        run = await world.start(BESIDE)
        await world.entered()
        settled = asyncio.create_task(still(world, run))
        while "human.waiting" not in await world.names(run):
            await asyncio.sleep(0.001)
        assert await status(world, run) is RunStatus.RUNNING
        assert not settled.done()
        world.gate.answers.put_nowait({})
        assert len(await settled) == 1
        assert await status(world, run) is RunStatus.WAITING

    in_a_world(work, tmp_path)


def test_a_question_can_be_answered_while_other_branches_are_at_work(tmp_path):
    async def work(world):
        run = await world.start(BESIDE)
        await world.entered()
        while "human.waiting" not in await world.names(run):
            await asyncio.sleep(0.001)
        await world.engine.people.answer(run, "yes")
        while not any(x.name == "step.done" and x.step == "ask" for x in await world.log(run)):
            await asyncio.sleep(0.001)
        world.gate.answers.put_nowait({})
        await world.ended(run)

    in_a_world(work, tmp_path)


def test_a_parent_stands_still_while_its_child_asks_and_can_be_answered_for_it(tmp_path):
    (tmp_path / "child.yaml").write_text(ASK)

    async def work(world):
        run = await world.start(
            "workflow: [{step: call, tool: {kind: playbook, file: child.yaml}}]"
        )
        [question] = await still(world, run)
        assert question.run != run
        await world.engine.people.answer(run, "y")
        assert (await world.ended(run)).last_result == "[Y] Yes"

    in_a_world(work, tmp_path, slots=1)


def test_a_question_is_decided_at_its_deadline_when_nobody_answers(tmp_path):
    async def work(world):
        driver = asyncio.create_task(world.engine.people._clock.drive(world.database.is_quiet))
        run = await world.start(TIMED)
        assert (await world.ended(run)).last_result == "Yes"
        driver.cancel()
        [silence] = [x for x in await world.log(run) if isinstance(x, e.HumanTimedOut)]
        assert silence.at == 60 * 10**9

    database = CountedDatabase(MemoryDatabase())
    in_a_world(work, tmp_path, database=database, clock=VirtualClock())


def test_a_question_whose_deadline_passed_while_nobody_worked_goes_on_by_itself(tmp_path):
    database = MemoryDatabase()

    async def ask(world):
        run = await world.start(TIMED)
        assert len(await still(world, run)) == 1
        assert await is_blocked(database.archive, run, 59 * 10**9)
        assert not await is_blocked(database.archive, run, 61 * 10**9)
        return run

    async def go_on(world):
        await world.engine.adopt([run])
        assert await still(world, run) == []
        assert (await world.ended(run)).last_result == "Yes"

    run = in_a_world(ask, tmp_path, database=database, clock=VirtualClock())
    in_a_world(go_on, tmp_path, database=database, clock=VirtualClock(61 * 10**9))


def test_a_paused_run_keeps_an_answer_and_goes_on_with_it_when_resumed(tmp_path):
    async def work(world):
        run = await world.start(ASK)
        await still(world, run)
        assert await world.engine.pause(run)
        await world.engine.people.answer(run, "yes")
        assert await status(world, run) is RunStatus.PAUSED
        await world.engine.resume(run)
        assert (await world.ended(run)).last_result == "[Y] Yes"

    in_a_world(work, tmp_path)


def test_a_question_is_open_again_after_a_pause(tmp_path):
    async def work(world):
        run = await world.start(ASK)
        asked = await still(world, run)
        await world.engine.pause(run)
        await world.engine.resume(run)
        assert await still(world, run) == asked
        assert await status(world, run) is RunStatus.WAITING
        await world.engine.people.answer(run, "yes")
        await world.ended(run)

    in_a_world(work, tmp_path)


def test_an_answer_that_comes_while_a_worker_puts_the_question_aside_is_not_lost(tmp_path):
    async def work(world):
        run = await world.start(ASK)
        await still(world, run)
        await world.engine.pause(run)
        held = Hold(world.database.store, "commit", lambda commit: commit.park is not None)
        await world.engine.resume(run)
        await held.reached()
        await world.engine.people.answer(run, "no")
        held.let_go()
        assert (await world.ended(run)).last_result == "[N] No"
        assert (await world.names(run)).count("human.answered") == 1

    in_a_world(work, tmp_path)


def test_an_answer_that_comes_as_time_is_over_is_refused(tmp_path):
    async def work(world):
        clock = world.engine.people._clock
        run = await world.start(TIMED)
        await still(world, run)
        held = Hold(world.database.store, "commit", is_silence)
        clock._now = 61 * 10**9
        world.engine.worker.poller.notice(0)
        await held.reached()
        with pytest.raises(ConfigError, match="not open any more"):
            await world.engine.people.answer(run, "no")
        held.let_go()
        assert (await world.ended(run)).last_result == "Yes"

    in_a_world(work, tmp_path, clock=VirtualClock())


def test_a_waiting_run_can_be_cancelled(tmp_path):
    async def work(world):
        run = await world.start(ASK)
        await still(world, run)
        assert await world.engine.cancel(run)
        assert await world.database.archive.jobs(run) == []
        assert await still(world, run) == []

    in_a_world(work, tmp_path)


def test_a_retry_from_a_question_asks_it_again(tmp_path):
    async def work(world):
        run = await world.start(ASK)
        await still(world, run)
        again = (await world.engine.retry(run, "ask")).run
        [question] = await still(world, again)
        await world.engine.people.answer(again, "no")
        assert (await world.ended(again)).last_result == "[N] No"
        assert question.run == again
        assert await status(world, run) is RunStatus.WAITING

    in_a_world(work, tmp_path)


@pytest.mark.parametrize("is_answered", [False, True])
def test_a_question_survives_the_engine_that_asked_it(tmp_path, is_answered):
    database = MemoryDatabase()

    async def ask(world):
        run = await world.start(ASK)
        [question] = await still(world, run)
        return run, question

    async def answer(world):
        await world.engine.people.answer(run, "no", asked=question.asked)

    async def go_on(world):
        await world.engine.adopt([run])
        if not is_answered:
            assert await still(world, run) == [question]
            await answer(world)
        assert (await world.ended(run)).last_result == "[N] No"

    run, question = in_a_world(ask, tmp_path, database=database)
    if is_answered:
        in_a_world(answer, tmp_path, database=database)
    in_a_world(go_on, tmp_path, database=database)


def test_an_interviewer_answers_at_once_and_for_children_too(tmp_path):
    (tmp_path / "child.yaml").write_text(ASK)
    heard = Recording(AutoApprove())

    async def work(world):
        run = await world.start(
            "workflow: [{step: call, tool: {kind: playbook, file: child.yaml}}]"
        )
        assert await still(world, run) == []
        assert (await world.ended(run)).last_result == "[Y] Yes"

    in_a_world(work, tmp_path, interviewer=heard)
    assert [(one.question.question, one.answer) for one in heard.record] == [
        ("Ship it?", "[Y] Yes")
    ]


@pytest.mark.parametrize(
    ("interviewer", "name"),
    [
        (Recording(AutoApprove()), "auto-approve"),
        (Recording(FromQueue(["yes"], name="night shift")), "night shift"),
        (FromQueue(["yes"], name="night shift"), "night shift"),
        (FromCallback(lambda _: "yes", name="pager"), "pager"),
        (FromQueue(["yes"]), None),
    ],
)
def test_the_log_says_which_interviewer_answered(interviewer, name, tmp_path):
    async def work(world):
        run = await world.start(ASK)
        await world.ended(run)
        answers = [x for x in await world.log(run) if isinstance(x, e.HumanAnswered)]
        assert [answer.by for answer in answers] == [name]

    in_a_world(work, tmp_path, interviewer=interviewer)


def test_an_interviewer_may_be_given_for_one_run_only(tmp_path):
    async def work(world):
        mine, other = await world.start(ASK), await world.start(ASK)
        world.engine.people.interviews.give(mine, FromQueue(["no"]))
        assert (await world.ended(mine)).last_result == "[N] No"
        assert len(await still(world, other)) == 1

    in_a_world(work, tmp_path)


def test_a_queue_that_is_empty_leaves_the_question_open(tmp_path):
    async def work(world):
        run = await world.start(TWICE)
        [question] = await still(world, run)
        assert question.question == "Second?"

    in_a_world(work, tmp_path, interviewer=FromQueue(["yes"]))


def test_a_failing_callback_leaves_the_run_waiting_and_is_told(tmp_path, caplog):
    def broken(_):
        raise ValueError("the pager is down")

    async def work(world):
        run = await world.start(ASK)
        await still(world, run)
        assert "stays open: its interviewer failed (ValueError: the pager is down)" in caplog.text
        await world.engine.people.answer(run, "yes")
        await world.ended(run)

    in_a_world(work, tmp_path, interviewer=FromCallback(broken))


def test_a_callback_whose_answer_fits_no_choice_leaves_the_run_waiting(tmp_path, caplog):
    async def absurd(_):
        return "perhaps"

    async def work(world):
        run = await world.start(ASK)
        await still(world, run)
        assert "'perhaps' is none of the choices" in caplog.text

    in_a_world(work, tmp_path, interviewer=FromCallback(absurd))


def test_a_question_that_is_answered_elsewhere_is_taken_back_from_its_interviewer(tmp_path):
    asked, taken_back = asyncio.Event(), asyncio.Event()

    async def slow(_):
        asked.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            taken_back.set()
            raise

    async def work(world):
        run = await world.start(ASK)
        await asyncio.wait_for(asked.wait(), 10)
        await world.engine.people.answer(run, "yes")
        await asyncio.wait_for(taken_back.wait(), 10)
        await world.ended(run)

    in_a_world(work, tmp_path, interviewer=FromCallback(slow))


def test_a_secret_that_a_person_types_stays_out_of_the_log(tmp_path):
    secret = "hunter2-is-long-enough"

    async def play(world):
        world.engine.keychain.redactor.learn(Credential("vault", "token", {"token": secret}))
        asked = ASK.replace(', choices: ["[Y] Yes", "[N] No"]', "")
        run = await world.start(asked)
        await still(world, run)
        await world.engine.people.answer(run, f"it is {secret}", by=f"ann {secret}")
        await world.ended(run)
        log = await world.log(run)
        assert secret not in repr(log)
        assert "it is [redacted]" in repr(log)

    in_a_world(play, tmp_path)


def test_an_answer_after_the_deadline_is_told_when_the_time_was_over(tmp_path):
    database = MemoryDatabase()

    async def ask(world):
        run = await world.start(TIMED)
        await still(world, run)
        return run

    async def answer(world):
        said = rf"step ask was over at 1970-01-01T00:01:00.*`anew resume {run}` continues it"
        with pytest.raises(ConfigError, match=said):
            await world.engine.people.answer(run, "no")

    run = in_a_world(ask, tmp_path, database=database, clock=VirtualClock())
    in_a_world(answer, tmp_path, database=database, clock=VirtualClock(61 * 10**9))


def test_an_answer_that_fits_several_choices_is_told_which(tmp_path):
    async def work(world):
        run = await world.start(ASK.replace('"[N] No"', "No, Not yet, Later"))
        await still(world, run)
        with pytest.raises(
            ConfigError, match=r"'n' fits several .* \[2\] No, \[3\] Not yet\. Name"
        ):
            await world.engine.people.answer(run, "n")

    in_a_world(work, tmp_path)


def test_a_step_whose_name_a_shell_would_split_is_named_in_quotes(tmp_path):
    async def work(world):
        run = await world.start(TWO.replace("step: two", 'step: "two more"'))
        await still(world, run)
        with pytest.raises(ConfigError, match=r"`--step one`.*`--step 'two more'`"):
            await world.engine.people.answer(run, "yes")

    in_a_world(work, tmp_path)
