"""The rows of a picture, as types: what goes over the wire, and what describes it.

Plain records; moments are text in UTC. Who makes them stands in the modules beside this one.
"""

from __future__ import annotations

from msgspec import Struct

from anew.engine.statuses import DetailedStatus
from anew.values import Object, Value
from anew.views.graph_rows import GraphShown, LoopShown

RunText = str


class RuleShown(Struct, frozen=True):
    """A rule of a task, counted from 1, and where it stands in the document."""

    number: int
    name: str | None
    line: int | None
    column: int | None


class VerdictShown(Struct, frozen=True):
    """The run in a few words; `since` and `until` are for a countdown."""

    headline: str
    reason: str
    details: tuple[str, ...]
    since: str | None
    until: str | None


class WaitShown(Struct, frozen=True, kw_only=True):
    """One live step-run. `can_skip`: it waits for a moment, and that wait can be ended now."""

    step: str
    visit: int
    iteration: int | None
    task: str | None
    attempt: int
    attempts: int | None
    doing: str
    headline: str
    reason: str
    since: str | None
    until: str | None
    rule: RuleShown | None
    retry_after_seconds: float | None
    can_skip: bool


class BarShown(Struct, frozen=True):
    """A stretch of time, in seconds since the lanes begin."""

    begin: float
    end: float
    kind: str
    task: str | None
    attempt: int | None
    visit: int
    is_open: bool


class DensityShown(Struct, frozen=True):
    """Of a lane with too many bars: how many were at it in each slice of so many seconds."""

    seconds: float
    working: list[float]
    waiting: list[float]
    errors: list[int]


class LaneShown(Struct, frozen=True, kw_only=True):
    """One step over time: `bars`, or a `density` where they are too many."""

    step: str
    status: str
    visits: int
    attempts: int
    bars: list[BarShown]
    density: DensityShown | None
    loop: LoopShown | None
    depth: int


class LanesShown(Struct, frozen=True):
    """`more` lanes are left out, those that ended well first."""

    begin: str
    seconds: float
    lanes: list[LaneShown]
    more: int = 0


class ChildShown(Struct, frozen=True, kw_only=True):
    """A run that a step of this one started; its status is that of now."""

    run: RunText
    program: str
    status: str
    step: str | None
    visit: int | None
    iteration: int | None


class RulesHit(Struct, frozen=True, kw_only=True):
    """How often a rule decided. `when` is its condition, null for the one that takes the rest."""

    step: str
    task: str
    rule: RuleShown
    when: str | None
    directive: str
    hits: int


class Pictured(Struct, frozen=True, kw_only=True):
    """A whole run as of the event `at`; `events` is the newest there is."""

    run: RunText
    program: str
    digest: str
    version: int | None
    language: str | None
    file: str | None
    status: str
    state: DetailedStatus
    at: int
    events: int
    now: str
    created_at: str
    updated_at: str
    ended_at: str | None
    key: str | None
    labels: dict[str, str]
    parent: RunText | None
    parent_step: str | None
    continues: RunText | None
    continued_as: RunText | None
    shared_with: RunText | None
    children: list[ChildShown]
    error: Object | None
    fingerprint: str | None
    failed_step: str | None
    verdict: VerdictShown
    waits: list[WaitShown]
    more_waits: int
    graph: GraphShown | None
    lanes: LanesShown
    rules: list[RulesHit]
    more_rules: int
    workload: Object
    ctx: Object
    result: Value
