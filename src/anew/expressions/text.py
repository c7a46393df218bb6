"""Compile the statements of a template into closures that write text.

A statement is given the evaluation and the list of pieces written so far. Whether all of it is
too long is asked before the pieces are joined.
"""

from __future__ import annotations

from anew.expressions import syntax
from anew.expressions.compile import TemplateCompiler
from anew.expressions.evaluation import Evaluation, Run, evaluation_of
from anew.expressions.limits import BULK
from anew.expressions.loops import Emit, LoopContext, assign
from anew.expressions.problems import COMPUTING_ERRORS, ExpressionError, OperationError, reason
from anew.expressions.rendering import check_chars, to_text
from anew.values import Value


def text_run(compiler: TemplateCompiler, statements: tuple[syntax.Statement, ...]) -> Run:
    """A node that renders `statements` into one text."""
    write, source, limits = _block(compiler, statements), compiler.source, compiler.limits

    def run(rt: Evaluation) -> Value:
        pieces: list[str] = []
        write(rt, pieces)
        try:
            check_chars(sum(map(len, pieces)), limits)
        except OperationError as error:
            raise ExpressionError(reason(error), source=source, offset=0) from error
        return "".join(pieces)

    return run


def _block(compiler: TemplateCompiler, statements: tuple[syntax.Statement, ...]) -> Emit:
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


def _statement(compiler: TemplateCompiler, statement: syntax.Statement, before: str) -> Emit:
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


def _output(compiler: TemplateCompiler, statement: syntax.Output, before: str) -> Emit:
    """Writes the text before a `{{ }}` and the value: the two are nearly always together."""
    value, limits = compiler.compile(statement.expression), compiler.limits
    placed, is_counted = compiler.placed(statement.expression.at), compiler.is_counted

    def write(rt: Evaluation, pieces: list[str]) -> None:
        found = value(rt)
        if type(found) is str:
            pieces += (before, found)
            return
        try:
            text = str(found) if type(found) is int else to_text(found, limits)
            if len(text) >= BULK:
                evaluation_of(rt, limits).spend_bulk(len(text))
                if not is_counted:
                    check_chars(len(text) + sum(map(len, pieces)), limits)
        except COMPUTING_ERRORS as error:
            raise placed(error) from error
        pieces += (before, text)

    return write


def _if(compiler: TemplateCompiler, statement: syntax.If) -> Emit:
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


def _set(compiler: TemplateCompiler, statement: syntax.Set) -> Emit:
    value, targets = compiler.compile(statement.value), statement.targets
    placed = compiler.placed(statement.at)
    # Not sure for what follows: this may stand inside an if.
    compiler.locals |= set(targets)

    def write(rt: Evaluation, pieces: list[str]) -> None:
        found = value(rt)
        try:
            assign(rt.locals, targets, found)
        except COMPUTING_ERRORS as error:
            raise placed(error) from error

    return write


def _set_text(compiler: TemplateCompiler, statement: syntax.SetText) -> Emit:
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
        except OperationError as error:
            raise placed(error) from error
        rt.locals[target] = text

    return write


def _for(compiler: TemplateCompiler, statement: syntax.For) -> Emit:
    source = compiler.compile(statement.source)
    outer, sure = compiler.locals, compiler.sure_locals
    compiler.locals |= set(statement.targets)
    compiler.sure_locals |= set(statement.targets)
    condition = compiler.compile(statement.condition) if statement.condition else None
    compiler.locals |= {"loop"}
    compiler.sure_locals |= {"loop"}
    body = _block(compiler, statement.body)
    compiler.locals, compiler.sure_locals = outer, sure
    otherwise = _block(compiler, statement.otherwise)
    compiler.locals = outer
    facts = compiler.survey.loops[id(statement)]
    return LoopContext(
        source=source,
        condition=condition,
        targets=statement.targets,
        body=body,
        otherwise=otherwise,
        placed=compiler.placed(statement.at),
        node_count=facts.node_count,
        has_set=facts.has_set,
        shows_loop=facts.shows_loop,
    ).write
