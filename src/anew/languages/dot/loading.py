"""Load a DOT document: read it, check it, and compile it when it has no errors."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from os.path import basename, splitext

from anew.errors import ConfigError
from anew.languages.dot.beside import Beside
from anew.languages.dot.compilation import GraphCompilation
from anew.languages.dot.compile import compile_graph
from anew.languages.dot.ends import types_of
from anew.languages.dot.extensions import NO_EXTENSIONS, Extensions, judged, transformed
from anew.languages.dot.graph import DotDialect
from anew.languages.dot.lint import lint
from anew.languages.dot.node_type import Role
from anew.languages.dot.prompt_files import apply_prompt_files
from anew.languages.dot.read import ReadGraph, read_graph
from anew.languages.dot.routes import CompiledEdge, routes_of
from anew.languages.loaded import Loaded, ordered
from anew.program.findings import Finding, has_error


def load_dot(
    text: str | bytes,
    file: str,
    *,
    dialect: str | None = None,
    files: Mapping[str, str] | None = None,
    extensions: Extensions | None = None,
) -> Loaded:
    """Compile a graph. Whatever is wrong with the document is a finding.

    `files` are those it names: given, nothing is read from disk. ConfigError when `dialect`, which
    the caller chose, is none.
    """
    chosen, beside = _chosen(dialect), Beside(file, files)
    extensions = extensions or NO_EXTENSIONS
    read = read_graph(text, file, dialect=chosen, beside=beside)
    findings = list(read.findings)
    checked = _checked(read, beside, extensions, findings)
    program = None
    if checked is not None:
        c, routes = checked
        digest = digest_of_graph(text, chosen, beside.files, extensions.marks(c.types))
        (start, *_) = c.with_role(Role.START)
        name = c.graph.name or splitext(basename(file))[0]
        program = compile_graph(c, routes, entry=start.id, name=name, digest=digest)
    return Loaded(program, ordered(findings), files=beside.files, dialect=chosen)


def _chosen(dialect: str | None) -> DotDialect | None:
    if dialect is None:
        return None
    if dialect not in list(DotDialect):
        raise ConfigError(f"unknown dialect {dialect!r}; it is docs or spec")
    return DotDialect(dialect)


def digest_of_graph(
    text: str | bytes, chosen: str | None, files: Mapping[str, str], marks: Iterable[str] = ()
) -> str:
    """Of everything the program is made of; of the document alone where there is nothing else."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    digest = hashlib.sha256(data)
    if chosen is not None:
        digest.update(f"\0dialect={chosen}".encode())
    for name, content in sorted(files.items()):
        checksum = hashlib.sha256(content.encode()).hexdigest()
        digest.update(f"\0file={name}\0{checksum}".encode())
    for mark in marks:
        digest.update(f"\0{mark}".encode())
    return digest.hexdigest()


def _checked(
    read: ReadGraph, beside: Beside, extensions: Extensions, findings: list[Finding]
) -> tuple[GraphCompilation, dict[str, list[CompiledEdge]]] | None:
    """What there is to compile; None when there are errors among the findings."""
    graph = read.graph
    if graph is None or has_error(findings):
        return None
    findings += apply_prompt_files(graph, beside)
    graph = transformed(graph, extensions.transforms)
    known = extensions.known
    c = GraphCompilation(
        graph, read.dialect, types_of(graph, read.dialect, known), source=read.source
    )
    routes = {node.id: routes_of(c, node) for node in graph.nodes.values()}
    lint(c, routes, known)
    findings += c.findings
    findings += judged(graph, extensions.rules)
    return None if has_error(findings) else (c, routes)
