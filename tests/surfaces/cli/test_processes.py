"""Batches are answered by other processes, in order, and Ctrl-C leaves none of them behind."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from multiprocessing import active_children

import pytest

from anew.errors import ConfigError
from anew.surfaces.cli.processes import mapped
from tests.surfaces.cli.struck import doubling

BATCHES = [range(start, start + 3) for start in range(0, 21, 3)]


def answering(order: str) -> Callable[[range], int]:
    return {"raise": _refuse, "die": _die, "interrupt": _interrupt}[order]


def _refuse(batch: range) -> int:
    if 9 in batch:
        raise ConfigError("nine cannot be played")
    return batch.start


def _die(batch: range) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return batch.start


def _interrupt(batch: range) -> int:
    """Ctrl-C reaches the one that waits for the answer, which never comes."""
    if batch.start == 3:
        os.kill(os.getppid(), signal.SIGINT)
    if batch.start:
        signal.pause()
    return batch.start


def test_answers_come_in_the_order_of_the_batches_from_processes_that_are_deaf_to_ctrl_c() -> None:
    answers = mapped(doubling, 2, batches=BATCHES, processes=2)
    assert [number for answer in answers for number in answer] == list(range(0, 42, 2))
    assert active_children() == []


def test_what_a_process_raises_is_raised_here() -> None:
    answers = mapped(answering, "raise", batches=BATCHES, processes=2)
    assert [next(answers) for _ in range(3)] == [0, 3, 6]
    with pytest.raises(ConfigError, match="nine cannot be played"):
        next(answers)
    assert active_children() == []


def test_a_process_that_is_ended_from_outside_is_told() -> None:
    with pytest.raises(ConfigError, match="ended from outside"):
        next(mapped(answering, "die", batches=BATCHES, processes=2))
    assert active_children() == []


def test_ctrl_c_ends_every_process_at_once() -> None:
    with pytest.raises(KeyboardInterrupt):
        list(mapped(answering, "interrupt", batches=BATCHES, processes=2))
    assert active_children() == []


def test_nobody_is_left_at_work_for_one_who_reads_no_further() -> None:
    answers = mapped(answering, "raise", batches=BATCHES, processes=2)
    next(answers)
    answers.close()
    assert active_children() == []
