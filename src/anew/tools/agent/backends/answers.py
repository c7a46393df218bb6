"""What a model's answer counts as, whatever wire format it came in."""

from __future__ import annotations

from msgspec import Struct

from anew.engine.outcome import error_of
from anew.engine.verdicts import ErrorType
from anew.program.policy import Verdict
from anew.tools.agent.backend import AgentReply

# The words of both formats for an answer that was cut off, and for one that was refused.
_CUT = frozenset({"length", "max_tokens", "model_context_window_exceeded"})
_REFUSED = frozenset({"refusal", "content_filter"})


class Answer(Struct, frozen=True):
    """`tokens` are those of the question and of the answer."""

    text: str
    model: str | None
    stop: str | None
    tokens: tuple[int, int] | None


def reply_of(answer: Answer) -> AgentReply:
    """A cut answer is a partial success; a refused or empty one is a failure."""
    usage = None
    if answer.tokens is not None:
        usage = {"input_tokens": answer.tokens[0], "output_tokens": answer.tokens[1]}
    error = None
    if answer.stop in _REFUSED:
        # The same question would be refused again.
        refused = "the model refused to answer"
        error = error_of("failed", refused, type=ErrorType.TERMINAL.value)
    elif not answer.text.strip():
        empty = f"the model gave no text (it stopped with {answer.stop or 'no reason'})"
        error = error_of("failed", empty) | {"type": ErrorType.UNKNOWN.value, "retryable": None}
    return AgentReply(
        text=answer.text,
        model=answer.model,
        usage=usage,
        stop=answer.stop,
        error=error,
        verdict=Verdict.PARTIAL if answer.stop in _CUT else None,
    )
