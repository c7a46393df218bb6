"""Start keys: what a person may give, and what is Anew's own."""

from __future__ import annotations

from anew.errors import ConfigError

# Keys of child runs, of runs that take another's place, of what a terminal asks for without a key
# of its own, and of runs of which one at a time is unfinished.
ASKED = "asked:"
RESTART = "restart:"
SINGLETON = "singleton:"
RESERVED_KEYS = ("child:", RESTART, ASKED, SINGLETON)


class KeyInUse(ConfigError):
    """A start key names one run, and it is another than the one that is meant."""


def check_key(key: str | None) -> str | None:
    """A start key a person may give."""
    if key is not None and not key.strip():
        raise ConfigError("the key is empty. Leave it out, or give one that names the run.")
    if key is not None and key.startswith(RESERVED_KEYS):
        raise ConfigError(
            f"a key that starts with {key.partition(':')[0] + ':'!r} is Anew's own. Choose another."
        )
    return key


def made_key() -> str:
    """A key for what is asked without one: asked again because an answer got lost, it is once."""
    from secrets import token_hex  # noqa: PLC0415 - slow to import, and nobody who reads makes one

    return f"{ASKED}{token_hex(16)}"


def shown_key(key: str | None) -> str | None:
    """The key, unless it was made because nobody gave one: that is no news."""
    return None if key is None or key.startswith(ASKED) else key
