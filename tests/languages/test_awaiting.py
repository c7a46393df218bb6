"""What the checker says of a task that waits for a signal."""

import pytest

from anew.languages import load_text


def found(inputs):
    document = f"workflow:\n  - step: s\n    tool: {{kind: wait, {inputs}}}\n"
    loaded = load_text(document, "test.yaml")
    return [(one.severity.value, one.rule, one.place.line) for one in loaded.findings]


@pytest.mark.parametrize(
    "inputs",
    [
        "signal: paid",
        "signal: 17",
        "signal: order-17.paid:eu@shop_1",
        'signal: "paid-{{ workload.order }}"',
        "signal: paid, timeout: 30",
        "signal: paid, timeout: 0",
        "signal: paid, timeout: 1h",
        'signal: paid, timeout: "{{ workload.patience }}"',
        "signal: paid, timeout: null",
    ],
)
def test_a_wait_that_makes_sense_is_silent(inputs):
    assert found(inputs) == []


@pytest.mark.parametrize(
    ("inputs", "rule", "severity"),
    [
        ("timeout: 30", "tool.input-missing", "error"),
        ("signal: null", "tool.input-missing", "error"),
        ("signal: [paid]", "tool.input", "warning"),
        ("signal: a b", "tool.input", "warning"),
        ("signal: a/b", "tool.input", "warning"),
        ("signal: paid, timeout: soon", "tool.timeout", "error"),
        ("signal: paid, timeout: -1", "tool.timeout", "error"),
        ("signal: paid, timeout: {read: 3}", "tool.timeout", "error"),
        ("signal: paid, timeoot: 3", "input.unknown", "warning"),
        ("signal: paid, timeout_action: fail", "input.unknown", "warning"),
        ("signal: paid, spec: {timeout: 3}", "key.unused", "warning"),
    ],
)
def test_what_cannot_be_waited_for_is_found(inputs, rule, severity):
    assert found(inputs) == [(severity, rule, 3)]
