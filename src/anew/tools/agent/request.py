"""Read the inputs of an agent task into a request.

Graphs write numbers and words as text, and leave an attribute empty to say nothing; both are
understood. Does not know which backend is asked.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from math import isfinite

from anew.program.kinds import FIDELITIES
from anew.tool import Call
from anew.tools.agent.backend import AgentRequest, Message
from anew.tools.inputs import BadInput
from anew.values import Value, json_text

_ROLES = ("user", "assistant")
# Read here; everything else an author gives is a setting of the backend.
_READ = frozenset(
    "node prompt backend provider model preamble goal fidelity thread history reasoning_effort "
    "max_tokens temperature system context settings auth idempotency_key".split()
)


def request_of(call: Call) -> AgentRequest:
    """The request a call asks for; BadInput names the input that cannot be used."""
    given = call.inputs
    fidelity = _fidelity(given)
    return AgentRequest(
        node=text_in(given, "node") or call.place.step,
        prompt=_prompt(given.get("prompt")),
        preamble=text_in(given, "preamble") or "",
        goal=text_in(given, "goal") or "",
        fidelity=fidelity,
        thread=text_in(given, "thread"),
        history=_history(given.get("history")) if fidelity in (None, "full") else (),
        model=text_in(given, "model") or os.environ.get("ANEW_AGENT_MODEL", "").strip() or None,
        provider=text_in(given, "provider"),
        reasoning_effort=text_in(given, "reasoning_effort"),
        max_tokens=_tokens(given),
        temperature=_number(given, "temperature"),
        system=text_in(given, "system"),
        context=mapping_in(given, "context"),
        settings=_settings(given),
        auth=mapping_in(given, "auth"),
        place=call.place,
        idempotency_key=call.idempotency_key,
        folder=call.folder,
        scratch=call.scratch,
        timeout=call.timeout,
        printed=call.printed,
    )


def text_in(given: Mapping[str, Value], name: str) -> str | None:
    """The text under a name; None when it is missing or blank."""
    said = given.get(name)
    if said is None:
        return None
    if not isinstance(said, str):
        raise BadInput(f"{name} must be a text")
    return said if said.strip() else None


def mapping_in(given: Mapping[str, Value], name: str) -> Mapping[str, Value]:
    """The mapping under a name; empty when there is none."""
    said = given.get(name)
    if said is None:
        return {}
    if not isinstance(said, Mapping):
        raise BadInput(f"{name} must be a mapping")
    return said


def switch_in(given: Mapping[str, Value], name: str) -> bool | None:
    """True or false under a name, as itself or as a word; None when nothing is said."""
    said = given.get(name)
    word = said.strip().lower() if isinstance(said, str) else said
    if word in (None, ""):
        return None
    if word in (True, "true"):
        return True
    if word in (False, "false"):
        return False
    raise BadInput(f"{name} must be true or false")


def _prompt(given: Value) -> str:
    text = given if isinstance(given, str) or given is None else json_text(given)
    if not text or not text.strip():
        raise BadInput("prompt is empty; say what the agent is to do")
    return text


def _fidelity(given: Mapping[str, Value]) -> str | None:
    said = text_in(given, "fidelity")
    if said is None:
        return None
    mode = said.strip().lower()
    if mode not in FIDELITIES:
        raise BadInput(f"fidelity is {said!r}; it must be one of {', '.join(FIDELITIES)}")
    return mode


def _history(given: Value) -> tuple[Message, ...]:
    if given is None:
        return ()
    if not isinstance(given, list):
        raise BadInput("history must be a list of {role, text}")
    # A blank turn says nothing, and no model takes one.
    found = [_message(number, item) for number, item in enumerate(given, 1)]
    return tuple(message for message in found if message.text.strip())


def _message(number: int, item: Value) -> Message:
    role = item.get("role") if isinstance(item, Mapping) else None
    text = item.get("text") if isinstance(item, Mapping) else None
    if role not in _ROLES or not isinstance(text, str):
        raise BadInput(f"history {number} is not {{role: user or assistant, text: …}}")
    return Message(role, text)


def _tokens(given: Mapping[str, Value]) -> int | None:
    number = _number(given, "max_tokens")
    if number is None:
        return None
    if number < 1 or number != int(number):
        raise BadInput("max_tokens must be a whole number of at least 1")
    return int(number)


def _number(given: Mapping[str, Value], name: str) -> float | None:
    said = given.get(name)
    if said is None or said == "":
        return None
    try:
        number = None if isinstance(said, bool) else float(said)
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None or not isfinite(number):
        raise BadInput(f"{name} must be a number")
    return number


def _settings(given: Mapping[str, Value]) -> Mapping[str, Value]:
    others = {key: value for key, value in given.items() if key not in _READ}
    return {**mapping_in(given, "settings"), **others}
