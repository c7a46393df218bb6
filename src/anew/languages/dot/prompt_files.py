"""Put the text of a file where a node names one: `prompt_file="…"`, or `prompt="@…"`."""

from __future__ import annotations

import re

from anew.languages.dot.attributes import shown
from anew.languages.dot.beside import Beside
from anew.languages.dot.graph import Attribute, Graph, Node
from anew.languages.dot.settings import given
from anew.languages.rules import finding
from anew.program.findings import Finding
from anew.program.span import Span

PROMPT_BYTES_MAX = 1 << 18
FILE_KEY = "prompt_file"

_AT_FILE = re.compile(r"@[\w./-]+")
_REMEDY = "Correct the path, which starts at the document's folder, or write the prompt here."


def apply_prompt_files(graph: Graph, beside: Beside) -> list[Finding]:
    """Give nodes the prompts that lie in files; tells which ones cannot be read."""
    # Many nodes may inherit one name.
    found: dict[tuple[str, Span], Attribute | Finding] = {}
    for node in graph.nodes.values():
        named = _named(node)
        if named is None:
            continue
        key = (named.raw, named.span)
        prompt = found[key] if key in found else _prompt_in(named, beside)
        found[key] = prompt
        if isinstance(prompt, Attribute):
            node.attributes["prompt"] = prompt
    return [prompt for prompt in found.values() if isinstance(prompt, Finding)]


def _prompt_in(named: Attribute, beside: Beside) -> Attribute | Finding:
    read = beside.read(named.raw.strip().removeprefix("@"), bytes_max=PROMPT_BYTES_MAX)
    if isinstance(read, str):
        message = f"the prompt {shown(named.raw)} cannot be read: {read}"
        return finding("prompt-file", named.span, message, _REMEDY)
    text = read[0].decode("utf-8", "replace")
    # It keeps the key of where it comes from: its text has no places in the document.
    return Attribute(FILE_KEY, text, text, named.span, named.key_span)


def _named(node: Node) -> Attribute | None:
    """The attribute that names a file."""
    stated = given(node, FILE_KEY)
    if stated is not None:
        return stated
    prompt = given(node, "prompt", "llm_prompt")
    return prompt if prompt is not None and _AT_FILE.fullmatch(prompt.raw.strip()) else None
