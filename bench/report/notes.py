"""The texts about the figures that a person wrote, by the name of the workload they are about."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Self

from msgspec import Struct

FILE = Path(__file__).parent / "notes.md"
_HEADING = re.compile(r"^## (.+)$", re.M)


class Notes(Struct, frozen=True):
    """Each section of the file, without its heading."""

    sections: dict[str, str]

    @classmethod
    def read(cls, file: Path = FILE) -> Self:
        return cls.parse(file.read_text(encoding="utf-8"))

    @classmethod
    def parse(cls, text: str) -> Self:
        _, *parts = _HEADING.split(text)
        return cls(
            {name.strip(): body.strip() for name, body in zip(*[iter(parts)] * 2, strict=True)}
        )

    def about(self, name: str) -> str:
        """Empty when nothing is written."""
        return self.sections.get(name, "")
