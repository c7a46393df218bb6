"""What `--set` and `--payload` make of their texts."""

from __future__ import annotations

import pytest

from anew.errors import ConfigError
from anew.surfaces.cli.overrides import workload_overrides


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("2.5", 2.5),
        ("true", True),
        ("null", None),
        ("[1, 2]", [1, 2]),
        ('"3"', "3"),
        ("eu", "eu"),
        ("", ""),
        ("a=b", "a=b"),
        ("True", "True"),
    ],
)
def test_a_setting_is_json_where_it_can_be_and_text_otherwise(text: str, value: object) -> None:
    assert workload_overrides(None, [f"x={text}"]) == {"x": value}


def test_dots_lead_into_objects() -> None:
    assert workload_overrides(None, ["a.b=1", "a.c=2"]) == {"a": {"b": 1, "c": 2}}


def test_the_last_setting_wins_over_the_payload() -> None:
    assert workload_overrides('{"a": 1, "b": 1}', ["a=2", "a=3"]) == {"a": 3, "b": 1}


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity"])
def test_a_number_json_does_not_have_is_text_in_a_setting(value: str) -> None:
    assert workload_overrides(None, [f"x={value}"]) == {"x": value}


@pytest.mark.parametrize("payload", ["[1]", "3", "null", '"x"', "true", "{", '{"x": NaN}'])
def test_a_payload_is_a_json_object(payload: str) -> None:
    with pytest.raises(ConfigError, match="--payload"):
        workload_overrides(payload, [])
