"""The words of each older dialect, and what stands for them in those of `policy`.

A translator is given the tokens of one expression and says what to change. Where nothing means
the same, it refuses.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from anew.expressions.tokens import TemplateToken
from anew.languages.playbook.keys_below import ADVICE
from anew.languages.playbook.translate import STRING, Change, Translator, Untranslatable
from anew.program.kinds import HELPERS

_RETRY_WORDS = {
    "status_code": "outcome.http.status",
    "error": "(outcome.error.message | default(none))",
    "success": "(outcome.status == 'ok')",
    "data": "(outcome.result.data | default(outcome.result) | default(none))",
    "result": "(outcome.result | default(none))",
    "attempt": "_attempt",
}
# Before a key the words that are null where there is no result may also be undefined.
_RETRY_WORDS_BEFORE_KEY = {
    "data": "(outcome.result.data | default(outcome.result))",
    "result": "outcome.result",
}
# What a `save` block calls the result of the task before it.
_SAVE_WORDS = {
    "result": "_prev",
    "this": "_prev",
    "response": "_prev",
    "data": "(_prev.data | default(_prev))",
}
# What an error of an HTTP request calls its status.
_STATUS_NAMES = ("status", "status_code", "http_status")
# What `output` answers in a `set` where the result has no such key.
_BESIDE_RESULT = frozenset({"data", "status", "error", "meta", *ADVICE, *HELPERS})
_EVAL_STATUS = "('success' if outcome.status == 'ok' else outcome.status)"
# What may stand around a comparison without taking part of it for itself.
_OPENING = frozenset({"(", "[", "{", ",", ":", "=", "and", "or", "not", "if", "elif", "else"})
_CLOSING = frozenset({")", "]", "}", ",", ":", "and", "or", "if", "else", ""})


def retry_words(tokens: list[TemplateToken], text: str) -> Iterator[Change]:
    """`status_code`, `error`, … of a retry block, and `output`."""
    yield from output_words(tokens, text)
    for index, token in enumerate(tokens):
        if not _is_read(tokens, index):
            continue
        word = _RETRY_WORDS.get(str(token.value))
        if word is not None:
            short = _RETRY_WORDS_BEFORE_KEY.get(str(token.value), word)
            yield _renamed(token, short if _key_end(tokens, index) else word)


def save_words(tokens: list[TemplateToken], _text: str) -> Iterator[Change]:
    """`result`, `data`, `this` and `response` of a `save` block."""
    _refuse_rebinding(tokens, *_SAVE_WORDS)
    for index, token in enumerate(tokens):
        word = _SAVE_WORDS.get(str(token.value))
        if word is not None and _is_read(tokens, index):
            yield _renamed(token, word)


def case_retry_words(tokens: list[TemplateToken], text: str) -> Iterator[Change]:
    """`error` of a `case` branch, which is a mapping there, in the words of a retry block."""
    for index, token in enumerate(tokens):
        if not _is_read(tokens, index):
            continue
        if token.value in ("event", "response", "result"):
            why, remedy = f"reads `{token.value}`", "Read `error.kind`, or `status_code`."
            raise Untranslatable(why, remedy)
        end = _key_end(tokens, index)
        if token.value == "error" and end:
            is_status = tokens[index + 2].value in _STATUS_NAMES
            whole = Change(token.at, _end_of(tokens[end], text), "status_code")
            yield whole if is_status else _renamed(token, "outcome.error")


def unchanged_words(tokens: list[TemplateToken], _text: str) -> Iterator[Change]:
    """Expressions that mean the same everywhere, but for `output`, which is not there yet."""
    if any(_is_read(tokens, index) and _word(t) == "output" for index, t in enumerate(tokens)):
        raise Untranslatable("reads `output` before there is one", "Read `_prev`.")
    yield from ()


def no_retry_words(tokens: list[TemplateToken], text: str) -> Iterator[Change]:
    """What stands beside a retry block and does not change, unless it reads the block's words."""
    for index, token in enumerate(tokens):
        if _is_read(tokens, index) and token.value in _RETRY_WORDS:
            why = f"reads `{token.value}` outside of a retry condition"
            raise Untranslatable(why, f"Write `{_RETRY_WORDS[str(token.value)]}`.")
    yield from output_words(tokens, text)


def eval_words(tokens: list[TemplateToken], text: str) -> Iterator[Change]:
    """`success` where `outcome.status` is compared with it, and the status where it is a value.

    `output.status` has the words of `policy` already.
    """
    _refuse_rebinding(tokens, "outcome")
    yield from output_words(tokens, text)
    for index, token in enumerate(tokens):
        is_outcome = token.value == "outcome" and _is_read(tokens, index)
        if is_outcome and _outcome_key(tokens, index) == "status":
            yield from _status(tokens, index, text)


def output_words(tokens: list[TemplateToken], text: str) -> Iterator[Change]:
    """`output` and its `data`."""
    _refuse_rebinding(tokens, "output")
    for index, token in enumerate(tokens):
        if _is_read(tokens, index) and token.value == "output":
            yield _renamed(token, "outcome")
            yield from _data_key(tokens, index, text)


def ctx_words(ctx_keys: frozenset[str]) -> Translator:
    """A `ctx` that reads the workload where nothing was set."""

    def changes(tokens: list[TemplateToken], text: str) -> Iterator[Change]:
        _refuse_rebinding(tokens, "ctx")
        for index, token in enumerate(tokens):
            is_key = token.value == "ctx" and _is_read(tokens, index) and _key_end(tokens, index)
            if is_key:
                yield _ctx_key(tokens, index, text, ctx_keys)

    return changes


def vars_words(tokens: list[TemplateToken], _text: str) -> Iterator[Change]:
    """`vars` of older documents, which is `ctx`."""
    _refuse_rebinding(tokens, "vars", "ctx")
    for index, token in enumerate(tokens):
        if token.value == "vars" and _is_read(tokens, index):
            yield _renamed(token, "ctx")


def both_words(*translators: Translator) -> Translator:
    """What each of them changes; they change different words."""

    def changes(tokens: list[TemplateToken], text: str) -> Iterator[Change]:
        for translator in translators:
            yield from translator(tokens, text)

    return changes


def set_words(others: Translator | None) -> Translator:
    """`output` of a task's `set`, which is the result; `others` are the dialect's own words."""

    def changes(tokens: list[TemplateToken], text: str) -> Iterator[Change]:
        _refuse_rebinding(tokens, "output")
        found = {
            index
            for index, token in enumerate(tokens)
            if token.value == "output" and _is_read(tokens, index)
        }
        for index in found:
            yield _result_key(tokens, index, text)
        if others is not None:
            # To the other words it is as strange as any name of the author's.
            kept = [t._replace(value="_") if n in found else t for n, t in enumerate(tokens)]
            yield from others(kept, text)

    return changes


def _result_key(tokens: list[TemplateToken], index: int, text: str) -> Change:
    """A key of the result; where it has none, one of the outcome's may answer."""
    start, end = tokens[index].at, _key_end(tokens, index)
    if not end:
        is_asked = _word(tokens[index + 1]) == "is"
        whole = "outcome.result" if is_asked else "(outcome.result | default(none))"
        return Change(start, _end_of(tokens[index], text), whole)
    key = str(tokens[index + 2].value)
    tail = text[tokens[index + 1].at : _end_of(tokens[end], text)]
    if key not in _BESIDE_RESULT:
        return _renamed(tokens[index], "outcome.result")
    answer = f"outcome.result{tail} | default(outcome.result)"
    if key != "data":
        # What an HTTP body holds under such a name is not a key of the result.
        has_key = f"outcome.result is mapping and '{key}' in outcome.result"
        answer = f"outcome.result{tail} if {has_key} else outcome{tail}"
    return Change(start, _end_of(tokens[end], text), f"({answer})")


def _refuse_rebinding(tokens: list[TemplateToken], *names: str) -> None:
    """A statement that gives one of these names another meaning cannot be followed."""
    words = [_word(token) for token in tokens]
    if words[0] in ("set", "for"):
        binder = "=" if words[0] == "set" else "in"
        targets = words[1 : words.index(binder)] if binder in words else words[1:]
        for name in names:
            if name in targets:
                raise Untranslatable(f"gives `{name}` another meaning", "Choose another name.")


# --- outcome and output --------------------------------------------------------------------------


def _outcome_key(tokens: list[TemplateToken], index: int) -> str | None:
    """The key read of `outcome` or `output`; None where only its presence is asked."""
    if _word(tokens[index + 1]) == "is":
        return None
    if not _key_end(tokens, index):
        name = tokens[index].value
        raise Untranslatable(f"reads `{name}` as a whole", f"Read its parts: `{name}.status`, ….")
    return str(tokens[index + 2].value)


def _status(tokens: list[TemplateToken], index: int, text: str) -> Iterator[Change]:
    """`outcome.status`, whose word for ok changes: in a comparison the other word does instead."""
    end = _key_end(tokens, index)
    words = _compared(tokens, index, end)
    if not words or any(word.value == "ok" for word in words):
        yield Change(tokens[index].at, _end_of(tokens[end], text), _EVAL_STATUS)
        return
    for word in words:
        if word.value == "success":
            yield _literal(word, text, "ok")


def _compared(tokens: list[TemplateToken], start: int, end: int) -> list[TemplateToken]:
    """The texts that the path from `start` to `end` is compared with, and nothing else done."""
    before = _word(tokens[start - 1]) if start else "("
    after = _word(tokens[end + 1])
    if before in _OPENING and after in ("==", "!="):
        return _alone(tokens[end + 2 :])
    if before in _OPENING and after in ("in", "not"):
        return _listed(tokens[end + (2 if after == "in" else 3) :])
    if before in ("==", "!=") and after in _CLOSING and start >= 2:
        opening = _word(tokens[start - 3]) if start >= 3 else "("
        other = tokens[start - 2]
        return [other] if other.kind == "string" and opening in _OPENING else []
    return []


def _alone(tokens: list[TemplateToken]) -> list[TemplateToken]:
    is_text = tokens[0].kind == "string" and _word(tokens[1]) in _CLOSING
    return [tokens[0]] if is_text else []


def _listed(tokens: list[TemplateToken]) -> list[TemplateToken]:
    """The texts of `['a', 'b']`; nothing where the list holds more or is used further."""
    closing = next((i for i, token in enumerate(tokens) if _word(token) == "]"), 0)
    if _word(tokens[0]) != "[" or not closing or _word(tokens[closing + 1]) not in _CLOSING:
        return []
    inner = tokens[1:closing]
    texts = [token for token in inner if token.kind == "string"]
    is_plain = all(token.kind == "string" or _word(token) == "," for token in inner)
    is_paired = all(a.kind != b.kind for a, b in pairwise(inner))
    return texts if is_plain and is_paired else []


def _data_key(tokens: list[TemplateToken], index: int, text: str) -> Iterator[Change]:
    key = _outcome_key(tokens, index)
    if key == "result":
        raise Untranslatable("reads `output.result`, which is never set", "Read `output.data`.")
    if key in ("data", "response"):
        token = tokens[index + 2]
        yield _renamed(token, "result") if token.kind == "name" else _literal(token, text, "result")


def _ctx_key(
    tokens: list[TemplateToken], index: int, text: str, ctx_keys: frozenset[str]
) -> Change:
    """A key of `ctx`: while nobody has set it, it is that of the workload."""
    if tokens[index + 2].value not in ctx_keys:
        return _renamed(tokens[index], "workload")
    end = _end_of(tokens[_key_end(tokens, index)], text)
    tail = text[tokens[index + 1].at : end]
    return Change(tokens[index].at, end, f"(ctx{tail} | default(workload{tail}))")


# --- tokens --------------------------------------------------------------------------------------


def _word(token: TemplateToken) -> str | None:
    """A token as a word of the language; None for literals."""
    return str(token.value) if token.kind in ("name", "operator", "end") else None


def _key_end(tokens: list[TemplateToken], index: int) -> int:
    """The index of the last token of `name.key` or `name['key']`; 0 for any other use of a name."""
    opener = _word(tokens[index + 1])
    if opener == "." and tokens[index + 2].kind == "name":
        return 0 if _word(tokens[index + 3]) == "(" else index + 2
    if opener == "[" and tokens[index + 2].kind == "string" and _word(tokens[index + 3]) == "]":
        return index + 3
    return 0


def _is_read(tokens: list[TemplateToken], index: int) -> bool:
    """Whether a token is a name read from the scope: no attribute, filter, call or keyword."""
    token = tokens[index]
    if token.kind != "name":
        return False
    if index and _word(tokens[index - 1]) in (".", "|", "is"):
        return False
    return _word(tokens[index + 1]) not in ("(", "=")


def _renamed(token: TemplateToken, text: str) -> Change:
    return Change(token.at, token.at + len(str(token.value)), text)


def _end_of(token: TemplateToken, text: str) -> int:
    found = STRING.match(text, token.at) if token.kind == "string" else None
    return found.end() if found is not None else token.at + len(str(token.value))


def _literal(token: TemplateToken, text: str, value: str) -> Change:
    quote = text[token.at]
    return Change(token.at, _end_of(token, text), f"{quote}{value}{quote}")
