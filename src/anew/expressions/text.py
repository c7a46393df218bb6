"""Compile the statements of a template into closures that write text.

A statement is given the evaluation and the list of pieces written so far. Whether all of it is
too long is asked before the pieces are joined.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from anew.expressions import syntax
from anew.expressions.arguments import items_of
from anew.expressions.compile import Compiler
from anew.expressions.evaluation import Evaluation, Run
from anew.expressions.limits import BULK
from anew.expressions.problems import COMPUTING_ERRORS, ExpressionError, Refusal, reason
from anew.expressions.rendering import check_chars, kind, to_text
from anew.values import Value

Emit: TypeAlias = Callable[[Evaluation, list[str]], None]

# A pass through a loop's body counts as one operation for this many nodes in it.
NODES_PER_OPERATION = 32
_GROUP = {"grouper", "list"}


def text_run(compiler: Compiler, statements: tuple[syntax.Statement, ...]) -> Run:
    """A node that renders `statements` into one text."""
    write, source, limits = _block(compiler, statements), compiler.source, compiler.limits

    def run(rt: Evaluation) -> Value:
        pieces: list[str] = []
        write(rt, pieces)
        try:
            check_chars(sum(map(len, pieces)), limits)
        except Refusal as error:
            raise ExpressionError(reason(error), source=source, offset=0) from error
        return "".join(pieces)

    return run


def _block(compiler: Compiler, statements: tuple[syntax.Statement, ...]) -> Emit:
    parts: list[Emit] = []
    before = ""
    for statement in statements:
        if isinstance(statement, syntax.Text):
            before += statement.text
            continue
        if before and not isinstance(statement, syntax.Output):
            parts.append(_text(before))
            before = ""
        parts.append(_statement(compiler, statement, before))
        before = ""
    if before:
        parts.append(_text(before))

    def write(rt: Evaluation, pieces: list[str]) -> None:
        for part in parts:
            part(rt, pieces)

    return parts[0] if len(parts) == 1 else write


def _text(text: str) -> Emit:
    return lambda _, pieces: pieces.append(text)


def _statement(compiler: Compiler, statement: syntax.Statement, before: str) -> Emit:
    match statement:
        case syntax.Text():
            return _text(statement.text)
        case syntax.Output():
            return _output(compiler, statement, before)
        case syntax.If():
            return _if(compiler, statement)
        case syntax.For():
            return _for(compiler, statement)
        case syntax.Set():
            return _set(compiler, statement)
        case syntax.SetText():
            return _set_text(compiler, statement)


def _output(compiler: Compiler, statement: syntax.Output, before: str) -> Emit:
    """Writes the text before a `{{ }}` and the value: the two are nearly always together."""
    value, limits = compiler.compile(statement.expression), compiler.limits
    placed, counts = compiler.placed(statement.expression.at), compiler.is_repeating

    def write(rt: Evaluation, pieces: list[str]) -> None:
        found = value(rt)
        if type(found) is str:
            pieces += (before, found)
            return
        try:
            text = str(found) if type(found) is int else to_text(found, limits)
            if counts and len(text) >= BULK:
                rt.spend_bulk(len(text))
        except COMPUTING_ERRORS as error:
            raise placed(error) from error
        pieces += (before, text)

    return write


def _if(compiler: Compiler, statement: syntax.If) -> Emit:
    branches = [
        (compiler.compile(branch.condition), _block(compiler, branch.body))
        for branch in statement.branches
    ]
    otherwise = _block(compiler, statement.otherwise)

    def write(rt: Evaluation, pieces: list[str]) -> None:
        for condition, body in branches:
            if condition(rt):
                body(rt, pieces)
                return
        otherwise(rt, pieces)

    return write


def _set(compiler: Compiler, statement: syntax.Set) -> Emit:
    value, targets = compiler.compile(statement.value), statement.targets
    placed = compiler.placed(statement.at)
    # Not sure for what follows: this may stand inside an if.
    compiler.locals |= set(targets)

    def write(rt: Evaluation, pieces: list[str]) -> None:
        found = value(rt)
        try:
            _assign(rt.locals, targets, found)
        except COMPUTING_ERRORS as error:
            raise placed(error) from error

    return write


def _set_text(compiler: Compiler, statement: syntax.SetText) -> Emit:
    outer = compiler.locals
    value, target = text_run(compiler, statement.body), statement.target
    placed = compiler.placed(statement.at)
    compiler.locals = outer | {target}

    def write(rt: Evaluation, pieces: list[str]) -> None:
        kept = rt.locals
        rt.locals = dict(kept)
        text = value(rt)
        rt.locals = kept
        try:
            rt.spend_bulk(len(text))
        except Refusal as error:
            raise placed(error) from error
        rt.locals[target] = text

    return write


def _assign(variables: dict[str, Value], targets: tuple[str, ...], value: Value) -> None:
    """Give the one target the value, or each of several an item of it."""
    if len(targets) == 1:
        variables[targets[0]] = value
        return
    # `for key, rows in list | groupby('key')` is how groups are usually taken apart.
    if isinstance(value, dict) and value.keys() == _GROUP:
        value = list(value.values())
    if not isinstance(value, list):
        raise Refusal(f"{kind(value)} cannot be taken apart into {len(targets)} names")
    if len(value) != len(targets):
        raise Refusal(f"a list of {len(value)} cannot be taken apart into {len(targets)} names")
    variables.update(zip(targets, value, strict=True))


def _for(compiler: Compiler, statement: syntax.For) -> Emit:
    source, placed = compiler.compile(statement.source), compiler.placed(statement.at)
    outer, sure = compiler.locals, compiler.sure_locals
    targets = statement.targets
    compiler.locals = outer | set(targets)
    compiler.sure_locals = sure | set(targets)
    condition = compiler.compile(statement.condition) if statement.condition else None
    compiler.locals |= {"loop"}
    compiler.sure_locals |= {"loop"}
    body = _block(compiler, statement.body)
    compiler.locals, compiler.sure_locals = outer, sure
    otherwise = _block(compiler, statement.otherwise)
    compiler.locals = outer
    nodes = list(syntax.descendants(statement))
    cost = len(nodes) // NODES_PER_OPERATION
    # A pass must not see what the one before it set.
    sets = any(isinstance(node, syntax.Set | syntax.SetText) for node in nodes)
    single = targets[0] if len(targets) == 1 else None
    shows_loop = any(isinstance(node, syntax.Name) and node.name == "loop" for node in nodes)

    def items(rt: Evaluation) -> list[Value]:
        """What is gone through; the work of all passes is spent before the first."""
        found = items_of(rt, source(rt), "'for'")
        rt.spend(len(found) * (cost + len(rt.locals) // NODES_PER_OPERATION))
        return found if condition is None else _chosen(rt, found, targets, condition)

    def write(rt: Evaluation, pieces: list[str]) -> None:
        kept = rt.locals
        try:
            found = items(rt)
            variables = rt.locals = dict(kept)
            for index, item in enumerate(found):
                if sets:
                    variables = rt.locals = dict(kept)
                if single:
                    variables[single] = item
                else:
                    _assign(variables, targets, item)
                if shows_loop:
                    variables["loop"] = _loop(index, len(found))
                body(rt, pieces)
        except COMPUTING_ERRORS as error:
            raise placed(error) from error
        rt.locals = kept
        if not found:
            otherwise(rt, pieces)

    return write


def _chosen(
    rt: Evaluation, items: list[Value], targets: tuple[str, ...], condition: Run
) -> list[Value]:
    """The items of `for item in items if condition`."""
    kept, chosen = rt.locals, []
    for item in items:
        rt.locals = dict(kept)
        _assign(rt.locals, targets, item)
        if condition(rt):
            chosen.append(item)
    rt.locals = kept
    return chosen


def _loop(index: int, length: int) -> dict[str, Value]:
    """What the body sees as `loop`."""
    return {
        "index": index + 1,
        "index0": index,
        "revindex": length - index,
        "revindex0": length - index - 1,
        "first": index == 0,
        "last": index == length - 1,
        "length": length,
    }
