"""A task's `script` in its canonical form: the path of a file, or `{uri, source}` of another place.

A file written as `{uri, source: {type: file}}` becomes its path, and a text that stands in the
document becomes the input it is for (`code`, `command`). What no worker could read is reported.
Reads no file.
"""

from __future__ import annotations

import re

from anew.languages import made
from anew.languages.nodes import Entry, MapNode, ScalarNode, is_null
from anew.languages.playbook.compilation import Compilation, shown
from anew.program.kind import Kind
from anew.program.kinds import SCRIPT_ENTRY_POINT_GROUP, installed_script_sources

# What a source may say beside its type. Those of packages take anything.
_BESIDE_TYPE = {
    "file": (),
    "inline": ("code", "command", "content"),
    "http": ("endpoint", "method", "headers", "auth", "credential", "timeout"),
}
_FROM_PACKAGES = ("gcs", "s3")
_FORM = "Write `script: FILE`, or `script: {uri: …, source: {type: http}}`."
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def canonical_script(c: Compilation, inputs: dict[str, Entry], kind: Kind) -> None:
    """Put the canonical form of `script` into the inputs of a task."""
    entry = inputs.get("script")
    if entry is None or kind.script_for is None or is_null(entry.node):
        return
    node = entry.node
    if isinstance(node, ScalarNode):
        _check_path(c, node)
    elif not isinstance(node, MapNode):
        message = f"`script` must be a file or `{{uri, source}}`; found {shown(node)}"
        c.report("script.source", node.span, message, _FORM)
    else:
        c.check_keys(node, ("uri", "source"), "a script")
        _canonical_source(c, inputs, entry, node, kind)


def _check_path(c: Compilation, node: ScalarNode) -> None:
    if _SCHEME.match(node.text) is not None:
        message = f"`script` is the path of a file; found the address {shown(node)}"
        remedy = "Write `script: {uri: …, source: {type: http}}`."
        c.report("script.source", node.span, message, remedy)


def _canonical_source(
    c: Compilation, inputs: dict[str, Entry], entry: Entry, node: MapNode, kind: Kind
) -> None:
    uri, below = node.get("uri"), node.get("source")
    source = c.mapping(below, "source of a script")
    named = source.get("type") if source is not None else None
    if source is None or named is None or is_null(named.node):
        message = "the source of a script has no `type`"
        words = ", ".join(_BESIDE_TYPE)
        place = entry.place if below is None else below.place
        c.report("script.source", place, message, f"Add `source: {{type: …}}`: one of {words}.")
        return
    match named.node.text if isinstance(named.node, ScalarNode) else "":
        case "file":
            _as_file(c, inputs, entry, source, uri)
        case "inline":
            _as_text(c, inputs, entry, source, kind)
        case "http":
            c.check_keys(source, ("type", *_BESIDE_TYPE["http"]), "a script source of type http")
            if source.get("endpoint") is None:
                _need_uri(c, entry, uri)
        case found:
            _check_type(c, named, found)


def _as_file(
    c: Compilation, inputs: dict[str, Entry], entry: Entry, source: MapNode, uri: Entry | None
) -> None:
    c.check_keys(source, ("type", *_BESIDE_TYPE["file"]), "a script source of type file")
    if not _need_uri(c, entry, uri) or uri is None:
        return
    c.noncanonical(
        "strict.script", entry.place, "a file is written as `{uri, source}`", "`script: FILE`"
    )
    inputs["script"] = made.entry("script", uri.node, entry.place, entry)


def _as_text(
    c: Compilation, inputs: dict[str, Entry], entry: Entry, source: MapNode, kind: Kind
) -> None:
    """The text becomes `code` or `command`, and is judged as such: Python is never rendered."""
    words = _BESIDE_TYPE["inline"]
    c.check_keys(source, ("type", *words), "a script source of type inline")
    text = next((source.entries[word] for word in words if word in source), None)
    name = kind.script_for or ""
    if text is None or is_null(text.node):
        message = "a script source of type inline has no text"
        c.report("script.source", entry.place, message, f"Write `{name}: …` instead of `script`.")
    elif name in inputs:
        message = f"a task of kind {kind.name} takes one of `{name}`, `script`, not several"
        c.report("tool.input-twice", entry.place, message, "Keep one of them.")
        del inputs["script"]
    else:
        message = "a text in the document is written as `script`"
        c.noncanonical("strict.script", entry.place, message, f"`{name}: …`")
        del inputs["script"]
        inputs[name] = made.entry(name, text.node, entry.place, entry)


def _need_uri(c: Compilation, entry: Entry, uri: Entry | None) -> bool:
    if uri is not None and not is_null(uri.node):
        return True
    c.report("script.source", entry.place, "the script has no `uri`", "Add `uri: …`.")
    return False


def _check_type(c: Compilation, entry: Entry, found: str) -> None:
    installed = installed_script_sources()
    if found in installed or "{{" in found:
        return
    if found in _FROM_PACKAGES:
        message = f"scripts of type {found} come from a package, and none that has it is installed"
        remedy = (
            f"Install one that registers `{found}` in the entry-point group "
            f"`{SCRIPT_ENTRY_POINT_GROUP}`, or put the file next to the document."
        )
        c.report("script.source", entry.node.span, message, remedy)
        return
    words = [*_BESIDE_TYPE, *sorted(installed)]
    c.unknown_word(entry.node, words, rule="script.source", what="the type of a script's source")
