"""Anew's compiler of Jinja expressions and text.

Templates are parsed once into closures and evaluated often. They read data and nothing else:
no Python attribute, no callable of the caller, no clock; randomness and time come from the scope.
May import `anew.values` only.
"""

from __future__ import annotations

from anew.expressions.limits import DEFAULT_LIMITS, TemplateLimits
from anew.expressions.metering import Allowance, Meter, TakesLong
from anew.expressions.problems import ExpressionError
from anew.expressions.scope import MappingScope, ProbeScope, Scope
from anew.expressions.template import (
    Condition,
    Template,
    compile_condition,
    compile_expression,
    compile_template,
    compile_value,
    constant,
    holds_template,
)
from anew.expressions.undefined import UNDEFINED, Undefined, WordAliases

__all__ = [
    "DEFAULT_LIMITS",
    "UNDEFINED",
    "Allowance",
    "Condition",
    "ExpressionError",
    "MappingScope",
    "Meter",
    "ProbeScope",
    "Scope",
    "TakesLong",
    "Template",
    "TemplateLimits",
    "Undefined",
    "WordAliases",
    "compile_condition",
    "compile_expression",
    "compile_template",
    "compile_value",
    "constant",
    "holds_template",
]
