"""Where the variables of a shell command stand: what a shell itself would expand.

Single quotes, comments and escaped dollars are passed by. A simple reading: here-documents and
command substitutions inside double quotes are read like the text around them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_ANYWHERE = r"""
      (?P<escaped>\\.)
    | (?P<double>")
    | (?P<own>\$\$|\$(?='))
    | (?P<variable>\$\{[^\W\d]\w*(?:\.[\w-]+)*\}|\$(?:context|ctx)(?:\.\w+)+|\$[^\W\d]\w*)
    | (?P<parameter>\$\{\#?[^\W\d]\w*(?=[:%\#/+=?^,@}-]))
"""
# Between double quotes neither of these begins anything.
_UNQUOTED = r"""
    | (?P<single>'[^']*')
    | (?P<comment>(?:(?<=[\s;&|(])|^)\#[^\n]*)
"""
_FLAGS = re.VERBOSE | re.DOTALL | re.ASCII | re.MULTILINE
_PIECE = re.compile(_ANYWHERE + _UNQUOTED, _FLAGS)
_QUOTED_PIECE = re.compile(_ANYWHERE, _FLAGS)


def shell_variables(command: str) -> Iterator[re.Match[str]]:
    """The matches of variables, in order, as `$name`, `${name}`, `${a.b}` or `$context.a`.

    Of a form that only shells have, such as `${name:-none}`, it is the part up to the name.
    """
    position, is_quoted = 0, False
    while found := (_QUOTED_PIECE if is_quoted else _PIECE).search(command, position):
        kind = found.lastgroup
        position = found.end()
        if kind == "double":
            is_quoted = not is_quoted
        elif kind in ("variable", "parameter"):
            yield found
