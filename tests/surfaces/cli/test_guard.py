"""`anew guard` and the dependency file of a server."""

import json

import pytest

from anew.errors import ConfigError
from anew.surfaces.cli.main import main
from anew.surfaces.cli.serve import _dependencies


def guard(capsys, tmp_path, *words):
    status = main(["guard", *words, "--db", str(tmp_path / "anew.db")])
    return status, capsys.readouterr()


def test_what_is_set_is_shown_by_the_next_command(capsys, tmp_path):
    assert (
        guard(capsys, tmp_path, "set", "api", "concurrency=2", "rate.count=5", "rate.per=1s")[0]
        == 0
    )
    assert guard(capsys, tmp_path, "pause", "api/eu", "10m", "--by", "ann")[0] == 0
    _, said = guard(capsys, tmp_path, "list")
    assert 'operator: api: {"concurrency": 2, "rate": {"count": 5, "per": "1s"}}' in said.out
    assert "paused: api/eu until " in said.out
    _, said = guard(capsys, tmp_path, "unset", "api", "--json")
    shown = json.loads(said.out)
    assert shown["rules"]["operator"] == {}
    _, said = guard(capsys, tmp_path, "list", "api/eu", "--json")
    assert [(one["do"], one["by"]) for one in json.loads(said.out)["changes"]] == [("pause", "ann")]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["set", "api", "rate.per=soon"], "per must be a duration above 0"),
        (["set", "api", "concurrency"], "is not of the form name=value"),
        (["pause", "api", "soon"], "is not a moment"),
    ],
)
def test_what_cannot_be_is_refused(capsys, tmp_path, words, said):
    status, heard = guard(capsys, tmp_path, *words)
    assert status != 0
    assert said in heard.err


def test_a_dependency_file_is_read_as_the_rules_of_a_document(tmp_path):
    file = tmp_path / "dependencies.yaml"
    file.write_text("stripe/**:\n  concurrency: 8\n  rate: {count: 100, per: 1s}\n")
    rules = _dependencies(str(file))
    assert rules == {"stripe/**": {"concurrency": 8, "rate": {"count": 100, "per": 1.0}}}
    assert _dependencies(None) == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("stripe: {concurency: 8}", "Did you mean 'concurrency'"),
        ("- stripe", "must be a mapping"),
        ("a: [", "cannot be read"),
        ("", "it is empty"),
    ],
)
def test_a_dependency_file_that_cannot_be_is_refused(tmp_path, text, said):
    file = tmp_path / "dependencies.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=said):
        _dependencies(str(file))
