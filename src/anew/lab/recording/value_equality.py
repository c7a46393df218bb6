"""Whether a value of a run's log is what the scenario of that run makes of it.

Allowed are the differences a scenario has by its nature: secrets are taken out, large values are
cut, the run has another id, and everybody who answered is the script.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import Struct

from anew.lab.decisions import same_values
from anew.lab.recording.redaction import Redaction
from anew.lab.recording.truncation import CUT_LIST_ITEMS_MAX, CUT_MAPPING_KEYS_MAX, cut_text
from anew.lab.script import BY_SCRIPT
from anew.values import Object, Value
from anew.weight import RESERVED_KEY


class ValueEquality(Struct, frozen=True):
    """`ids` has the run ids of the simulation by those of the log."""

    redaction: Redaction
    people: Collection[str]
    ids: Mapping[str, str]

    def holds(self, recorded: Value, played: Value) -> bool:
        match recorded, played:
            case dict(), _ if RESERVED_KEY in recorded:
                return True  # a simulation has no credentials
            case dict(), dict():
                return self._of_objects(recorded, played)
            case list(), list():
                return self._of_lists(recorded, played)
            case str(), str():
                return recorded == played or self._of_texts(recorded, played)
            case int() | float(), str():
                return self.redaction.of_number(recorded) == played
            case _:
                return same_values(recorded, played)

    def _of_objects(self, recorded: Object, played: Object) -> bool:
        keys = list(recorded)
        if len(keys) > CUT_MAPPING_KEYS_MAX == len(played):
            keys = keys[:CUT_MAPPING_KEYS_MAX]
        ours = {self.redaction.key(key): recorded[key] for key in keys}
        return ours.keys() == played.keys() and all(
            self.holds(value, played[key]) for key, value in ours.items()
        )

    def _of_lists(self, recorded: list[Value], played: list[Value]) -> bool:
        if len(recorded) > CUT_LIST_ITEMS_MAX == len(played):
            recorded = recorded[:CUT_LIST_ITEMS_MAX]
        return len(recorded) == len(played) and all(map(self.holds, recorded, played))

    def _of_texts(self, recorded: str, played: str) -> bool:
        if recorded in self.people and played == BY_SCRIPT:
            return True
        text, clean = self.redaction.text(recorded), self.redaction.text(played)
        for ours, theirs in self.ids.items():
            text = text.replace(ours, theirs)
        return clean in (text, cut_text(text))
