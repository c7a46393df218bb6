"""The schema of the older `save` block of a step.

What the block passes on to its storage task is checked by the compiler only.
"""

from __future__ import annotations

from anew.languages.playbook.desugar import saves
from anew.languages.playbook.desugar.statements import Mode
from anew.languages.schema.forms import ANYTHING, Schema, about, has, nullable, word

_STORAGES = word([*saves.STORAGES, *sorted(saves._LOG_NAMES - set(saves.STORAGES))])
_WHERE = {"anyOf": [_STORAGES, {"type": "object"}]}
_SHAPES = {
    "storage": about("Where to store: a kind of tool.", _WHERE),
    "tool": about("Another name for `storage`.", _WHERE),
    "table": about("The table to write to.", ANYTHING),
    "data": about("The columns and their values; what the tool gave is `result`.", ANYTHING),
    "args": about("Another name for `data`.", ANYTHING),
    "mode": about("append (default), upsert or update.", word(Mode)),
    "key": about("The columns that identify a row.", ANYTHING),
    "statement": about("A statement of one's own, instead of a table.", ANYTHING),
}
assert _SHAPES.keys() == saves.SAVE_WORDS

SAVE: Schema = about(
    "An older form of a storage task at the end of the pipeline.",
    nullable(
        {
            "type": "object",
            "properties": {**_SHAPES, **dict.fromkeys(saves.REFUSED_WORDS, False)},
            "anyOf": [has("storage"), has("tool")],
        }
    ),
)
