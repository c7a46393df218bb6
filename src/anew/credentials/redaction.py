"""Take the values of credentials out of everything that leaves: outcomes, messages, log lines.

By value, whatever the key: the text of each secret, its encoded forms, and what a cut leaves of
them. Knows every credential this process has resolved, and keeps those that were replaced since:
they may still be in use.
"""

from __future__ import annotations

import logging
from typing import TypeVar

from msgspec import structs

from anew.credentials.credential import Credential
from anew.credentials.fragments import STRETCH_CHARS_MIN, Stretches
from anew.credentials.secret_forms import forms_of
from anew.engine.outcome import Outcome
from anew.engine.secret_texts import PART_CHARS_MIN, PLAIN, SecretForm, SecretTexts
from anew.engine.secrets import Secrets
from anew.errors import ConfigError
from anew.values import Object

# A search looks for each of them, so this bounds what every outcome costs.
REDACTED_VALUES_MAX = 10_000

_LOG = logging.getLogger(__name__)

T = TypeVar("T")


class Redactor:
    """Knows what must not be seen. Starts empty and costs nothing until it knows something."""

    def __init__(self) -> None:
        self._forms: dict[SecretForm, str] = {}
        self._known: set[str] = set()
        self._texts = SecretTexts({})
        self._short_texts = SecretTexts({})
        self._stretches = Stretches(())

    def learn(self, credential: Credential) -> None:
        """From now on nothing of this credential's secret parts gets through."""
        new = [(ref, text) for ref, text in credential.secrets() if text not in self._known]
        if not new:
            return
        if len(self._known) + len(new) > REDACTED_VALUES_MAX:
            raise ConfigError(
                f"this process has resolved {REDACTED_VALUES_MAX:,} secret values, its limit "
                "(REDACTED_VALUES_MAX); start it again"
            )
        for ref, text in new:
            _warn_if_short(ref, text)
            for name, form in forms_of(text):
                self._forms[SecretForm(f"{len(self._known)}:{ref}", name)] = form
            self._known.add(text)
        self._texts = SecretTexts(self._forms)
        self._short_texts = SecretTexts(
            {mark: form for mark, form in self._forms.items() if _is_short(mark, form)}
        )
        self._stretches = Stretches(self._forms.values())

    def redact_text(self, text: str) -> str:
        """The text with `[redacted]` in place of each secret."""
        return self._masked(text)

    def redact_outcome(self, outcome: Outcome, secrets: Secrets | None = None) -> Outcome:
        """An outcome that may enter the log.

        A secret of the run's own in the result, or in what is written to ctx, becomes a reference,
        so that later tasks can use it; everything else is redacted.
        """
        if secrets is None and not self._known:
            return outcome
        data = {"result": outcome.result, "updates": outcome.updates}
        kept = self._masked(data if secrets is None else secrets.seal(data), is_data=True)
        told: Object = {
            "error": outcome.error,
            "helpers": outcome.helpers,
            "logs": outcome.logs,
            "word": outcome.word,
            "label": outcome.label,
            "suggested": list(outcome.suggested),
        }
        shown = self._masked(told)
        if kept is data and shown is told:
            return outcome
        shown["suggested"] = tuple(shown["suggested"])
        return structs.replace(outcome, **kept, **shown)

    def _masked(self, value: T, *, is_data: bool = False) -> T:
        # Stretches first: a short secret that is taken out of a long one would tear it apart.
        rest = self._stretches.masked(value, is_data=is_data)
        # Where all stretches are taken out, no long secret is left to look for.
        return (self._texts if is_data else self._short_texts).masked(rest)


def _is_short(mark: SecretForm, form: str) -> bool:
    """Whether it has no stretches, or may be a number, which is no text to look for them in."""
    return len(form) <= STRETCH_CHARS_MIN or (mark.form == PLAIN and form[-1].isdecimal())


def short_fields(credential: Credential) -> list[str]:
    """The references of secret parts that are too short to be found inside other texts."""
    return [ref for ref, text in credential.secrets() if 0 < len(text) < PART_CHARS_MIN]


def _warn_if_short(ref: str, text: str) -> None:
    if 0 < len(text) < PART_CHARS_MIN:
        _LOG.warning(
            "%s has fewer than %d characters: it is redacted only where it is the whole text",
            ref,
            PART_CHARS_MIN,
        )
