"""Write the tasks that stand for a `save` block in canonical form."""

from __future__ import annotations

import re

from msgspec.structs import replace

from anew.languages.nodes import MapNode
from anew.languages.playbook.compilation import Compilation
from anew.languages.playbook.dialect_words import save_words
from anew.languages.playbook.emit import Block, Inline, Key, Raw, scalar
from anew.languages.playbook.forms import TaskForm
from anew.languages.playbook.saves import Save, read_save
from anew.languages.playbook.storing import kept_label
from anew.languages.playbook.translating import CannotTranslate, Words
from anew.program.kinds import KINDS

_NAME = re.compile(r"[^\W\d]\w*")


def save_rows(
    c: Compilation, step: MapNode, *, forms: list[TaskForm], words: Words
) -> tuple[Block, ...]:
    """The rows that follow those of the step's own tasks; none without a block that stores."""
    save = read_save(c, step, {form.label for form in forms})
    if save is None:
        return ()
    rows = [_storage_row(save, replace(words, translator=save_words))]
    label, kept = forms[-1].label, kept_label(forms, save)
    if kept is not None:
        rows.append(_kept_row(save, label, kept))
    return tuple(rows)


def _storage_row(save: Save, words: Words) -> Block:
    verbatim = KINDS[save.kind].verbatim
    keys = [Key("kind", scalar(save.kind))]
    keys += [Key(name, _made(text)) for name, text in save.made.items()]
    inputs = dict(save.inputs)
    timeout = inputs.pop("timeout", None)
    keys += [Key(name, words.value(e, verbatim), (e,)) for name, e in inputs.items()]
    if timeout is not None:
        keys.append(Key("spec", Block((Key("timeout", Raw(timeout), (timeout,)),))))
    return Block((Key(save.label, Block(tuple(keys)), (save.entry,)),))


def _made(text: str) -> Inline:
    # Statements quote their names with `"`, and hold no other quotes.
    return Inline(f"'{text}'") if '"' in text else scalar(text)


def _kept_row(save: Save, label: str, kept: str) -> Block:
    if not _NAME.fullmatch(label):
        why = f"follows the task {label!r}, whose result no template can name"
        raise CannotTranslate(save.entry, why, "Give the step a name of letters, digits and `_`.")
    task = Inline(f'{{kind: noop, result: "{{{{ {label} }}}}"}}')
    return Block((Key(kept, task),))
