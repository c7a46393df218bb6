"""The outcome a relay's inputs describe: no tool is called, nothing is waited for."""

from __future__ import annotations

from anew.engine.outcome import Advice, Outcome, error_of, outcome_of
from anew.program.policy import Verdict
from anew.values import Value

_VERDICTS = frozenset(Verdict)


def relayed(inputs: Value) -> Outcome:
    """A success, unless the inputs' `outcome` says otherwise.

    A success may have the error of the failure it was made of.
    """
    said = inputs.get("outcome") if isinstance(inputs, dict) else None
    if said is None:
        return outcome_of({})
    if not isinstance(said, dict):
        return outcome_of(error=error_of("config", "outcome must be a mapping, or null"))
    verdict = said.get("verdict")
    has_failed = verdict == Verdict.FAILURE or said.get("status") == "error"
    error = said.get("error") if has_failed or verdict == Verdict.SUCCESS else None
    if has_failed and not error:
        error = error_of("failed", "a failure was passed on")
    advice = Advice(
        verdict=Verdict(verdict) if verdict in _VERDICTS else None,
        word=_text(said.get("word")),
        label=_text(said.get("label")),
        suggested=tuple(one for one in said.get("suggested") or () if isinstance(one, str)),
        updates=said.get("updates") or {},
    )
    # What is passed on comes out of the log, where secrets are sealed.
    return outcome_of(said.get("result", {}), error=error, advice=advice, is_sealed=True)


def _text(value: Value) -> str | None:
    return value if isinstance(value, str) else None
