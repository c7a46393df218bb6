"""Words and options of a command come in any order."""

from __future__ import annotations

import pytest

from anew.surfaces.cli.arguments import parser_for


def parsed(*words: str) -> tuple[str, str | None, list[str], str | None, bool]:
    parser = parser_for("try", purpose="Try.", example="anew try")
    parser.add_argument("run")
    parser.add_argument("step", nargs="?")
    parser.add_argument("more", nargs="*")
    parser.add_argument("--db")
    parser.add_argument("--json", action="store_true")
    found = parser.parse_args(list(words))
    return found.run, found.step, found.more, found.db, found.json


@pytest.mark.parametrize(
    "words",
    [
        "7 fetch a b --db x --json",
        "--db x 7 fetch a b --json",
        "7 --db x fetch a b --json",
        "7 --json fetch --db x a b",
        "7 fetch a --db x b --json",
    ],
)
def test_options_may_stand_between_the_words(words: str) -> None:
    assert parsed(*words.split()) == ("7", "fetch", ["a", "b"], "x", True)


def test_what_follows_two_dashes_is_a_word() -> None:
    assert parsed("7", "--db", "x", "--", "-f", "--json") == ("7", "-f", ["--json"], "x", False)


@pytest.mark.parametrize("words", ["7 --nope fetch", "7 fetch --nope", "--db x --nope 7"])
def test_an_option_that_does_not_exist_is_named(words: str, capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        parsed(*words.split())
    assert ended.value.code == 2
    assert "unrecognized arguments: --nope" in capsys.readouterr().err


def test_a_word_too_many_is_named_where_there_is_no_list(capsys) -> None:
    parser = parser_for("try", purpose="Try.", example="anew try")
    parser.add_argument("run")
    parser.add_argument("--db")
    with pytest.raises(SystemExit):
        parser.parse_args(["7", "--db", "x", "8"])
    assert "unrecognized arguments: 8" in capsys.readouterr().err


def test_commands_of_commands_still_name_what_they_do_not_know(capsys) -> None:
    parser = parser_for("try", purpose="Try.", example="anew try")
    parser.add_subparsers(dest="action").add_parser("put").add_argument("name")
    assert parser.parse_args(["put", "x"]).name == "x"
    with pytest.raises(SystemExit):
        parser.parse_args(["put", "x", "y"])
    assert "unrecognized arguments: y" in capsys.readouterr().err
