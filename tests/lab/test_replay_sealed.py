"""What an author writes plainly, and a credential holds as well, is sealed in the log."""

from __future__ import annotations

import pytest

from anew.engine import events as e
from anew.lab.replay.sealed import is_sealed

SEALED = {"$secret": ["echo ", {"ref": "gh.token", "form": "plain"}, " | wc"]}


def started(command: object, **more: object) -> e.TaskStarted:
    return e.TaskStarted(seq=1, task_visit=1, inputs={"command": command, **more})


@pytest.mark.parametrize(
    ("sealed", "text", "is_same"),
    [
        (SEALED, "echo t0ken-of-github | wc", True),
        (SEALED, "echo t0ken-of-github | cat", False),
        (SEALED, "echo  | wc", False),
        ({"$secret": "gh.token"}, "t0ken-of-github", True),
        ({"$secret": 3}, "t0ken-of-github", False),
        ({"other": "gh.token"}, "t0ken-of-github", False),
        ("echo", "cat", False),
    ],
)
def test_a_sealed_text_is_known_by_what_is_around_it(sealed, text, is_same) -> None:
    assert is_sealed(started(sealed), started(text)) is is_same


def test_what_stands_beside_a_sealed_text_must_be_the_same() -> None:
    assert is_sealed(started(SEALED, n=[1, 2]), started("echo abc | wc", n=[1, 2]))
    assert not is_sealed(started(SEALED, n=[1, 2]), started("echo abc | wc", n=[1, 3]))
    assert not is_sealed(started(SEALED, n=[1]), started("echo abc | wc", n=[1, 2]))
    assert not is_sealed(started(SEALED), e.StepStarted(seq=1))
