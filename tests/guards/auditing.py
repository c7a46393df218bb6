"""Says from logs alone whether guards admitted too many calls; knows nothing of how they decide."""

from collections.abc import Iterable, Sequence

from anew.engine import events as e

SECOND = 1_000_000_000
Log = Sequence[e.Event]


def calls(log: Log, dependency: str) -> list[tuple[int, int | None]]:
    """When each call to a dependency started, and when it ended or its worker was lost."""
    found: list[tuple[int, int | None]] = []
    open_: dict[tuple[object, ...], int] = {}
    for event in log:
        place = (event.step, event.visit, event.iteration)
        if isinstance(event, e.TaskStarted) and event.dependency == dependency:
            open_[place] = event.at
        elif isinstance(event, e.TaskProcessed | e.StepRedelivered) and place in open_:
            found.append((open_.pop(place), event.at))
    return found + [(at, None) for at in open_.values()]


def most_at_once(logs: Iterable[Log], dependency: str) -> int:
    """Ends come before starts at one moment: one commit may have both."""
    changes = []
    for log in logs:
        for start, end in calls(log, dependency):
            changes.append((start, 1))
            if end is not None:
                changes.append((end, -1))
    most = now = 0
    for _, change in sorted(changes):
        now += change
        most = max(most, now)
    return most


def most_within(logs: Iterable[Log], dependency: str, *, seconds: float) -> int:
    starts = sorted(start for log in logs for start, _ in calls(log, dependency))
    window = int(seconds * SECOND)
    return max(
        (sum(at <= other < at + window for other in starts) for at in starts),
        default=0,
    )
