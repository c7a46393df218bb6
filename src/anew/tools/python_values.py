"""Values of Python programs as JSON and back: dataclasses, structs, models, moments.

What has `model_dump` and `model_validate`, as pydantic's models have, is asked itself; nothing of
such a library is imported.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from anew.errors import ConfigError
from anew.values import Value

T = TypeVar("T")


def as_json(given: object, where: str) -> Value:
    """What code gives, as a log holds it; ConfigError names what is no JSON."""
    try:
        return _listed(msgspec.to_builtins(given, str_keys=True, enc_hook=_dumped))
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(f"{where} cannot be written as JSON: {error}") from error


def as_type(value: Value, wanted: type[T] | Any, where: str) -> T:
    """A value as the type that code wants; ConfigError says which part of it does not fit."""
    try:
        validate = getattr(wanted, "model_validate", None)
        if validate is not None:
            made: T = validate(value)
            return made
        return msgspec.convert(value, wanted, dec_hook=_validated)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{where} does not fit {_name(wanted)}: {error}") from error


def _listed(value: Value) -> Value:
    """With a list for every tuple: JSON has no other, and a log that is read again neither."""
    if isinstance(value, dict):
        return {key: _listed(part) for key, part in value.items()}
    return [_listed(part) for part in value] if isinstance(value, (list, tuple)) else value


def _dumped(part: Any) -> Value:
    dump = getattr(part, "model_dump", None)
    if dump is None:
        raise TypeError(f"it holds a value of the type {type(part).__name__}")
    return dump(mode="json")


def _validated(wanted: Any, part: Value) -> object:
    validate = getattr(wanted, "model_validate", None)
    if validate is None:
        raise TypeError(f"a {_name(wanted)} cannot be made of JSON")
    return validate(part)


def _name(wanted: Any) -> str:
    return wanted.__name__ if isinstance(wanted, type) else str(wanted)
