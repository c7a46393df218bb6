"""The two condition languages of DOT graphs: read, evaluated, checked and translated.

Both become one tree. Missing keys and types are where they differ: in docs every comparison with
a missing key is false and '1' is not 1; in spec everything is text and what is missing is empty.
`IN` is `CONTAINS` the other way round, so that both work on lists, texts and the keys of objects.
"""

from __future__ import annotations

from anew.languages.dot.conditions.checking import Reach, holds_for_status
from anew.languages.dot.conditions.compilation import CompiledCondition, compile_condition
from anew.languages.dot.conditions.jinja import InJinja, to_jinja
from anew.languages.dot.conditions.problems import ConditionProblem, Topic
from anew.languages.dot.conditions.subjects import Names
from anew.languages.dot.conditions.translation import Translation, translate
from anew.languages.dot.conditions.tree import Tree

__all__ = [
    "CompiledCondition",
    "ConditionProblem",
    "InJinja",
    "Names",
    "Reach",
    "Topic",
    "Translation",
    "Tree",
    "compile_condition",
    "holds_for_status",
    "to_jinja",
    "translate",
]
