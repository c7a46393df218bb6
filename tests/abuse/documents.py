"""Documents that someone sends to hurt whoever reads them, and what each is refused for.

Where no rule is named the document may be taken or refused; it must be answered, and cost little.
"""

from __future__ import annotations

from collections.abc import Iterator

TAIL = "workflow: [{step: a, tool: {kind: noop}}]\n"
DEEP = 60_000


def merge_bomb(levels: int, width: int = 10) -> str:
    """Each level holds the one before ten times, in ten merge keys."""
    lines = ["x-0: &a0 {k: 1}"]
    for level in range(1, levels):
        parts = ", ".join(f"<<: {{k{number}: *a{level - 1}}}" for number in range(width))
        lines.append(f"x-{level}: &a{level} {{{parts}}}")
    return "\n".join([*lines, f"workload: *a{levels - 1}", TAIL])


def merged_lists(levels: int, width: int = 10) -> str:
    """The same with lists of aliases behind one merge key."""
    lines = ["x-0: &a0 {k: 1}"]
    for level in range(1, levels):
        parts = ", ".join([f"*a{level - 1}"] * width)
        lines.append(f"x-{level}: &a{level} {{<<: [{parts}]}}")
    return "\n".join([*lines, f"workload: *a{levels - 1}", TAIL])


def laughs(levels: int, width: int = 10) -> str:
    """A billion laughs: lists of aliases to lists of aliases."""
    lines = ["x-0: &a0 [lol]"]
    for level in range(1, levels):
        parts = ", ".join([f"*a{level - 1}"] * width)
        lines.append(f"x-{level}: &a{level} [{parts}]")
    return "\n".join([*lines, f"workload: {{a: *a{levels - 1}}}", TAIL])


def mapped_laughs(levels: int, width: int = 10) -> str:
    """The same with mappings."""
    lines = ["x-0: &a0 {k: lol}"]
    for level in range(1, levels):
        parts = ", ".join(f"k{number}: *a{level - 1}" for number in range(width))
        lines.append(f"x-{level}: &a{level} {{{parts}}}")
    return "\n".join([*lines, f"workload: *a{levels - 1}", TAIL])


def _in_workload(text: str) -> str:
    return f"workload: {{a: {text}}}\n{TAIL}"


def _bombs() -> Iterator[tuple[str, tuple[str, str | None]]]:
    for levels in (6, 7, 8, 12, 40):
        yield f"merge keys, {levels} levels", (merge_bomb(levels), "yaml.aliases")
    for levels in (2, 4, 6, 8, 40):
        yield f"merged lists, {levels} levels", (merged_lists(levels), "yaml.merge")
    for levels in (6, 7, 8, 12, 40):
        yield f"a billion laughs, {levels} levels", (laughs(levels), "yaml.aliases")
        yield f"mapped laughs, {levels} levels", (mapped_laughs(levels), "yaml.aliases")


PLAYBOOKS: dict[str, tuple[str, str | None]] = {
    **dict(_bombs()),
    "merge keys side by side": (
        "workload: {" + ", ".join(f"<<: {{k{n}: 1}}" for n in range(5_000)) + f"}}\n{TAIL}",
        "yaml.merge",
    ),
    "a merge key of nothing": (f"workload: {{<<: }}\n{TAIL}", "yaml.merge"),
    "a merge key of itself": (f"workload: &a {{<<: *a}}\n{TAIL}", "yaml.alias"),
    "a merge key of a text": (f"workload: {{<<: text}}\n{TAIL}", "yaml.merge"),
    "a value that holds itself": (f"workload: &a [*a]\n{TAIL}", "yaml.alias"),
    "an alias to nothing": (f"workload: *nothing\n{TAIL}", "yaml.alias"),
    "too many aliases": (
        f"x-a: &a 1\nworkload: {{a: [{', '.join(['*a'] * 1_001)}]}}\n{TAIL}",
        "yaml.aliases",
    ),
    "deep lists": (_in_workload("[" * DEEP), "yaml.depth"),
    "deep lists that are closed": (_in_workload("[" * DEEP + "]" * DEEP), "yaml.depth"),
    "deep mappings": (_in_workload("{a: " * DEEP), "yaml.depth"),
    "deep mappings in lists": (_in_workload("[{a: " * DEEP), "yaml.depth"),
    "deep block lists": ("- " * DEEP + "a", "yaml.depth"),
    "deep block mappings": ("\n".join(" " * n + "a:" for n in range(1_000)), "yaml.depth"),
    "deep keys": ("? " * DEEP + "a", "yaml.key"),
    "deep flow keys": (_in_workload("{? " * DEEP), None),
    "a key that is a list": (f"workload: {{[a]: 1}}\n{TAIL}", "yaml.key"),
    "a key that is a mapping": (f"workload: {{{{a: 1}}: 1}}\n{TAIL}", "yaml.key"),
    "the same key many times": (
        f"workload: {{{', '.join(['a: 1'] * 10_000)}}}\n{TAIL}",
        "yaml.duplicate-key",
    ),
    "the same root key twice": (f"{TAIL}{TAIL}", "yaml.duplicate-key"),
    "a class of Python": (_in_workload("!!python/object:os.system {}"), "yaml.tag"),
    "a call of Python": (_in_workload("!!python/object/apply:os.system [id]"), "yaml.tag"),
    "a name of Python": (_in_workload("!!python/name:os.system x"), "yaml.tag"),
    "a module of Python": (_in_workload("!!python/module:os x"), "yaml.tag"),
    "a tuple of Python": (_in_workload("!!python/tuple [1]"), "yaml.tag"),
    "a new object of Python": (_in_workload("!!python/object/new:type [x]"), "yaml.tag"),
    "a set": (_in_workload("!!set {a, b}"), "yaml.tag"),
    "an ordered mapping": (_in_workload("!!omap [{a: 1}]"), "yaml.tag"),
    "binary data": (_in_workload("!!binary aGk="), "yaml.tag"),
    "a timestamp": (_in_workload("!!timestamp 2030-01-01"), "yaml.tag"),
    "a tag of their own": (_in_workload("!mine 1"), "yaml.tag"),
    "a tag of another place": ("%TAG ! tag:x.test,2030:\n---\nworkload: !a 1\n", "yaml.tag"),
    "a number under the wrong tag": (_in_workload("!!int abc"), "yaml.tag"),
    "a tag with no end": (_in_workload("!<tag:" + "a" * 10_000), "yaml.syntax"),
    "a huge number": (_in_workload("9" * 500_000), None),
    "a huge number under a tag": (_in_workload("!!int " + "9" * 500_000), "yaml.tag"),
    "a huge exponent": (_in_workload("1e" + "9" * 500_000), None),
    "hexadecimal without end": (_in_workload("0x" + "f" * 500_000), None),
    "sexagesimal": (_in_workload(":".join(["59"] * 100_000)), None),
    "not a number": (_in_workload(".nan"), None),
    "infinity": (_in_workload("-.inf"), None),
    "a document too large": (_in_workload("a" * (1 << 20)), "yaml.size"),
    "many documents": ("---\n" * 100_000, "yaml.several"),
    "a second document": (f"{TAIL}---\n{TAIL}", "yaml.several"),
    "only comments": ("#\n" * 500_000, "document.empty"),
    "only spaces": (" " * 1_000_000, "document.empty"),
    "only tabs": ("\t" * 1_000_000, "yaml.syntax"),
    "only line breaks": ("\n" * 1_000_000, "document.empty"),
    "nothing": ("", "document.empty"),
    "a list": ("[1]", "document.shape"),
    "a text": ("text", "document.shape"),
    "a NUL": (_in_workload("a\0b"), "yaml.encoding"),
    "an escape sequence": (_in_workload("\x1b[2J"), "yaml.encoding"),
    "a character of no text": (_in_workload("\ufffe"), "yaml.encoding"),
    "a byte order mark in the middle": (_in_workload("a\ufeffb"), "yaml.encoding"),
    "two byte order marks": (f"\ufeff\ufeff{TAIL}", "yaml.encoding"),
    "a line of another writing": (_in_workload("a\u2028b\u2029c\x85d"), None),
    "text that runs backwards": (_in_workload("\u202eabc"), None),
    "an open quote": (_in_workload('"' + "a" * 100_000), "yaml.syntax"),
    "an open list": (_in_workload("[" + "a, " * 20_000), "yaml.syntax"),
    "open braces": (_in_workload("{{" * 40), None),
    "a broken escape": (_in_workload('"\\x1"'), "yaml.syntax"),
    "an escaped half of a pair": (_in_workload('"\\ud800"'), None),
    "an escaped NUL": (f'metadata: {{name: "a\\0b", path: "\\0"}}\n{TAIL}', None),
    "directives without end": ("%YAML 1.1\n" * 10_000 + "---\n", "yaml.syntax"),
    "a version of YAML to come": (f"%YAML 9.9\n---\n{TAIL}", None),
    "many anchors": (
        _in_workload("[" + ", ".join(f"&a{n} b" for n in range(20_000)) + "]"),
        None,
    ),
    "an anchor again and again": (_in_workload("[" + "&a b, " * 20_000 + "]"), None),
    "a long anchor": (_in_workload("&" + "a" * 500_000 + " 1"), None),
    "a long key": (f"workload: {{? {'k' * 500_000} : 1}}\n{TAIL}", None),
    "a path that is not text": (f"metadata: {{path: [[1]]}}\n{TAIL}", None),
    "a path without end": (f"metadata: {{name: p, path: {'a/' * 100_000}}}\n{TAIL}", None),
    "metadata that is no mapping": (f"metadata: [path]\n{TAIL}", "value.type"),
}

_END = "digraph g { s [shape=Mdiamond] d [shape=Msquare] s -> d }\n"
# Graphs whose text is also YAML, or looks like it, to whoever reads it as such.
GRAPHS: dict[str, str] = {
    "deep lists in a comment": f"//: {'[' * DEEP}\n{_END}",
    "deep mappings in a comment": f"//: {'{a: ' * DEEP}\n{_END}",
    "deep lists in a block comment": f"/*: {'[' * DEEP}*/\n{_END}",
    "deep lists behind a hash": f"#: {'[' * DEEP}\n{_END}",
    "a merge bomb in a comment": f"/*\n{merge_bomb(9)}*/\n{_END}",
    "a merge bomb in comments": "".join(f"// {x}\n" for x in merge_bomb(9).split("\n")) + _END,
    "laughs in a block comment": f"/*\n{laughs(12)}*/\n{_END}",
    "a class of Python in a comment": f"//: !!python/object/apply:os.system [id]\n{_END}",
    "a path in a comment": f"//metadata: {{path: stolen}}\n{_END}",
    "a path in a block comment": f"/*\nmetadata: {{path: stolen}}\n*/\n{_END}",
    "a comment without end": f"/* {'*' * 100_000}\n{_END}",
    "deep lists in a text": f'digraph g {{ s [shape=Mdiamond, label="{"[" * DEEP}"] s -> s }}\n',
    "deep subgraphs": "digraph g {" + "subgraph {" * DEEP,
    "deep subgraphs that are closed": "digraph g {" + "subgraph {" * DEEP + "}" * (DEEP + 1),
    "deep brackets": "digraph g { a " + "[" * DEEP,
    "a chain without end": "digraph g { a" + " -> a" * 10_000 + " }",
    "deep HTML": "digraph g { a [label=" + "<" * DEEP + ">" * DEEP + "] }",
}

# What no text can say: bytes that are not UTF-8.
BYTES: dict[str, bytes] = {
    "UTF-16": TAIL.encode("utf-16"),
    "UTF-16 the other way": TAIL.encode("utf-16-be"),
    "UTF-32": TAIL.encode("utf-32"),
    "half a character": b"workload: {a: \xc3}\n",
    "half of a pair": b"workload: {a: \xed\xa0\x80}\n",
    "a character written too long": b"workload: {a: \xc0\xaf}\n",
    "past the last character": b"workload: {a: \xf4\x90\x80\x80}\n",
    "Latin-1": "workload: {a: é}\n".encode("latin-1"),
    "zeros": b"\0" * 1_000,
    "noise": bytes(range(256)) * 100,
}
