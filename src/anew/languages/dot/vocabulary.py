"""The attributes graphs, nodes and edges can have, and what each must be.

Attributes that only say how a graph is drawn are known and have no effect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from anew.languages.dot.agents import AGENT_KEYS
from anew.languages.dot.attributes import (
    Wrong,
    duration_of,
    number_of,
    shown,
    truth_of,
    whole_of,
)
from anew.languages.dot.delays import (
    DOCS_KEY,
    DOCS_PRESETS,
    PRESET_KEYS,
    SPEC_PRESETS,
    Preset,
    kind_keys,
    wrong_preset,
)
from anew.languages.dot.gathering import POLICIES
from anew.languages.dot.graph import Attribute, DotDialect
from anew.languages.dot.people import TIMEOUT_ACTIONS
from anew.languages.dot.retries import JITTER_MAX, ON_FAILURE, TARGET_MODES

# Says what is wrong with a value; None when it is right.
Check: TypeAlias = Callable[[Attribute], str | None]


def _any(_: Attribute) -> str | None:
    return None


def _flag(attribute: Attribute) -> str | None:
    return _message(truth_of(attribute))


def is_duration(attribute: Attribute) -> str | None:
    return _message(duration_of(attribute))


def _whole(attribute: Attribute) -> str | None:
    return _message(whole_of(attribute))


def _at_least(least: int) -> Check:
    def check(attribute: Attribute) -> str | None:
        value = whole_of(attribute)
        if isinstance(value, Wrong):
            return value.message
        is_right = value >= least
        return None if is_right else f"{attribute.key!r} is {value}; it must be at least {least}"

    return check


def _not_negative(attribute: Attribute) -> str | None:
    value = number_of(attribute)
    if isinstance(value, Wrong):
        return value.message
    return None if value >= 0 else f"{attribute.key!r} is {value}; it must not be below 0"


def _jitter(attribute: Attribute) -> str | None:
    value = number_of(attribute)
    if isinstance(value, Wrong):
        return value.message
    if 0 <= value <= JITTER_MAX:
        return None
    return f"{attribute.key!r} is {value:g}; it must be from 0 to {JITTER_MAX:g}"


def _one_of(*words: str) -> Check:
    def check(attribute: Attribute) -> str | None:
        if attribute.raw.strip().lower() in words:
            return None
        known = ", ".join(words)
        return f"{attribute.key!r} is {shown(attribute.raw)}; it must be one of {known}"

    return check


def _delays(presets: Mapping[str, Preset], *keys: str) -> Mapping[str, Check]:
    """A preset or a list of delays, for all errors or for one kind."""
    return dict.fromkeys((*keys, *kind_keys(*keys)), lambda given: wrong_preset(given, presets))


def _message(value: object) -> str | None:
    return value.message if isinstance(value, Wrong) else None


_COUNT, _POSITIVE = _at_least(0), _at_least(1)

GRAPH: Mapping[str, Check] = {
    **dict.fromkeys(
        "title version label goal model_stylesheet default_fidelity fallback retry_target "
        "fallback_retry_target stack.child_dotfile stack.child_workdir tool_hooks.pre "
        "tool_hooks.post dialect shape_map thread_id default_thread default_thread_id "
        "child_dotfile child_graph dotfile dot_file context_fidelity_default "
        "context_thread_default".split(),
        _any,
    ),
    "default_max_retries": _COUNT,
    "default_max_retry": _COUNT,
    "max_goal_gate_redirects": _COUNT,
    "max_restarts": _COUNT,
    "max_steps": _POSITIVE,
    "max_visits": _POSITIVE,
    "max_node_visits": _POSITIVE,
    "max_same_failures": _POSITIVE,
    "retry_on_timeout": _flag,
    "on_failure": _one_of(*ON_FAILURE),
    "retry_target_mode": _one_of(*TARGET_MODES),
}
_NODE: Mapping[str, Check] = {
    **dict.fromkeys(
        "shape type node_type handler label goal goal_gate prompt llm_prompt prompt_file class "
        "retry_target fallback_retry_target fidelity thread_id human.default_choice tool_command "
        "command stack.child_dotfile stack.child_workdir "
        "child_dotfile child_graph dotfile dot_file".split(),
        _any,
    ),
    **dict.fromkeys(AGENT_KEYS, _any),
    "max_visits": _POSITIVE,
    "max_node_visits": _POSITIVE,
    "auto_status": _flag,
    "allow_partial": _flag,
    "retry_on_timeout": _flag,
    "max_retries": _COUNT,
    "max_tokens": _POSITIVE,
    "k": _POSITIVE,
    "max_parallel": _POSITIVE,
    "manager.max_cycles": _POSITIVE,
    "max_cycles": _POSITIVE,
    "temperature": _not_negative,
    "retry_jitter": _jitter,
    "timeout": is_duration,
    "manager.poll_interval": is_duration,
    "poll_interval": is_duration,
    "timeout_action": _one_of(*TIMEOUT_ACTIONS),
    "join_policy": _one_of(*POLICIES),
    "on_failure": _one_of(*ON_FAILURE),
    "retry_target_mode": _one_of(*TARGET_MODES),
}
_PRESETS: Mapping[DotDialect, Mapping[str, Check]] = {
    DotDialect.DOCS: _delays(DOCS_PRESETS, DOCS_KEY),
    DotDialect.SPEC: _delays(SPEC_PRESETS, *PRESET_KEYS),
}
NODES: Mapping[DotDialect, Mapping[str, Check]] = {
    dialect: {**_NODE, **presets} for dialect, presets in _PRESETS.items()
}
EDGE: Mapping[str, Check] = {
    **dict.fromkeys("label condition fidelity thread_id".split(), _any),
    "weight": _whole,
    "loop_restart": _flag,
    "max_retries": _COUNT,
}
# Words of other engines that are read and change nothing, with what does.
WITHOUT_EFFECT: Mapping[str, str] = {
    "manager.stop_condition": "The end of the child decides; give it an exit for this.",
    "manager.actions": "The child runs on its own; nothing is observed or steered meanwhile.",
    "stack.child_autostart": "The child is always started when its node is reached.",
    "error_policy": "Use join_policy: it says how many branches must succeed.",
    "max_pipeline_duration": "Use timeout on nodes, and max_steps on the graph.",
}
# How Graphviz draws it.
LAYOUT = frozenset(
    "arrowhead arrowsize arrowtail bgcolor center clusterrank color colorscheme comment "
    "compound concentrate constraint decorate dir dpi edgetooltip fillcolor fixedsize fontcolor "
    "fontname fontsize forcelabels gradientangle group headlabel headport height href id image "
    "labelangle labeldistance labelfloat labelfontcolor labelfontname labelfontsize labeljust "
    "labelloc layout len lhead ltail margin minlen newrank nodesep nojustify ordering orientation "
    "outputorder overlap pad page penwidth peripheries pin pos quantum rank rankdir ranksep ratio "
    "regular rotate samehead sametail sep sides size skew splines style taillabel tailport target "
    "tooltip url URL viewport width xlabel".split()
)
