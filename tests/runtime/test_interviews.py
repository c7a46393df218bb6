"""Interviewers: how often they are asked, and whom an interview keeps waiting."""

import asyncio

from anew.runtime.interviewers import FromCallback, FromQueue, Recording
from tests.runtime.test_control import _gate_is_a_kind, in_a_world  # noqa: F401
from tests.runtime.test_people import ASK, still

LATER = """
workflow:
  - step: start
    tool: {kind: noop}
    next: [{step: one}, {step: work}]
  - step: one
    tool: {kind: human, question: "One?", choices: [Yes, No]}
  - step: work
    tool: {kind: gate}
    next: [{step: two}]
  - step: two
    tool: {kind: human, question: "Two?", choices: [Yes, No]}
"""


async def _asked_and_left(world, recording):
    """The run, when its first question was left open and its second is about to be asked."""
    run = await world.start(LATER)
    await world.entered()
    async with asyncio.timeout(10):
        while not recording.record:
            await asyncio.sleep(0)
    world.gate.answers.put_nowait({})
    return run


def test_a_question_that_was_left_open_is_not_asked_again_with_the_next(tmp_path):
    recording = Recording(FromCallback(lambda _: None))

    async def work(world):
        await still(world, await _asked_and_left(world, recording))
        assert [heard.question.key.step for heard in recording.record] == ["one", "two"]

    in_a_world(work, tmp_path, interviewer=recording)


def test_an_answer_for_the_next_question_is_not_spent_on_an_earlier_one(tmp_path):
    recording = Recording(FromQueue(["nonsense", "No"]))

    async def work(world):
        run = await _asked_and_left(world, recording)
        assert [question.key.step for question in await still(world, run)] == ["one"]

    in_a_world(work, tmp_path, interviewer=recording)


def test_an_interview_about_one_run_does_not_keep_those_who_wait_for_another(tmp_path):
    async def work(world):
        is_asked, is_over = asyncio.Event(), asyncio.Event()

        async def think(question):
            if question.run == first:
                is_asked.set()
                await is_over.wait()

        interviewer = FromCallback(think)
        first = await world.start(ASK)
        world.engine.people.interviews.give(first, interviewer)
        await asyncio.wait_for(is_asked.wait(), 10)
        other = await world.start(ASK)
        try:
            assert [question.run for question in await still(world, other)] == [other]
        finally:
            is_over.set()

    in_a_world(work, tmp_path)


def test_whoever_has_waited_is_forgotten(tmp_path):
    async def work(world):
        people = world.engine.people
        run = await world.start(ASK)
        [question] = await still(world, run)
        assert not people._watching
        await people.answer(run, "Yes")
        await world.engine.wait(run)
        await asyncio.wait_for(people.until_closed(question), 10)
        assert not people._watching

    in_a_world(work, tmp_path)


def test_an_interviewer_that_comes_later_is_asked_what_another_left_open(tmp_path):
    async def work(world):
        run = await world.start(ASK)
        assert await still(world, run)
        world.engine.people.interviews.give(run, FromQueue(["Yes"]))
        assert (await asyncio.wait_for(world.engine.wait(run), 10)).status == "done"

    in_a_world(work, tmp_path, interviewer=FromCallback(lambda _: None))
