"""The closed words of events that no document has. Those that documents have are in `program`.

A log holds each as its value; a word that is not listed cannot be read.
"""

from __future__ import annotations

from enum import StrEnum


class RouteReason(StrEnum):
    """Why a way was taken, where more than the order of the file decides."""

    CONDITION = "condition"
    LABEL = "label"
    SUGGESTED = "suggested"
    WEIGHT = "weight"
    LEXICAL = "lexical"
    FAIL_EDGE = "fail_edge"
    FORK = "fork"
    # Ways that no arc describes.
    RETRY_TARGET = "retry_target"
    FALLBACK = "fallback"
    GATE = "gate"
    # The step has failed this way too often to go anywhere.
    REPEATED = "repeated"


class FailureEffect(StrEnum):
    """What a failure that nobody handles does: to the run, or to the branch it is in."""

    FAIL_FAST = "fail_fast"
    BEST_EFFORT = "best_effort"
    BRANCH = "branch"  # its branch ends failed: the join decides what that means


class RetryLimit(StrEnum):
    """What a retry rule has used up."""

    ATTEMPTS = "attempts"
    MAX_ELAPSED = "max_elapsed"
    BUDGET = "budget"  # that of its dependency, which all runs share


class SkippedWait(StrEnum):
    """What a step-run waited for whose wait was skipped."""

    RETRY = "retry"
    JUMP = "jump"
    SLEEP = "sleep"
