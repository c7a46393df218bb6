"""The files a document names, which lie in its own folder or below it.

Reads them from disk and remembers them, so that they can be kept with the document; or takes the
ones that were kept. Decides nothing about what they mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

# They are kept with every document, and sent with it to the process that owns the database.
FILES_BYTES_MAX = 4 << 20


class Beside:
    """The files of one document. With `given`, nothing is read from disk.

    `files` are the texts that were read, by the names the document has for them.
    """

    def __init__(self, document: str, given: Mapping[str, str] | None = None) -> None:
        self._document = Path(document)
        self._folder = self._document.parent
        self._given = given
        self._bytes = 0
        self.files: dict[str, str] = {}

    def read(self, path: str, *, bytes_max: int) -> tuple[bytes, str] | str:
        """The bytes of a file and its name for messages, or why there are none."""
        file = self._folder / path
        kept = self.files.get(path) if self._given is None else self._given.get(path)
        if kept is None and self._given is not None:
            return "it was not kept with the document"
        data = self._on_disk(file, bytes_max) if kept is None else kept.encode("utf-8", "replace")
        if isinstance(data, str):
            return data
        if path not in self.files:
            self._bytes += len(data)
            # What is no UTF-8 cannot be kept as it is: it means the text it is read as.
            self.files[path] = data.decode("utf-8", "replace")
        return data, str(file)

    @property
    def is_on_disk(self) -> bool:
        """Whether the document is a file, and what it names is looked for beside it."""
        try:
            return self._given is None and self._document.is_file()
        except (OSError, ValueError):
            return False

    def why_unreadable(self, path: str) -> str | None:
        """Why a file cannot be read; None when it can, or lies where nobody may look.

        The file is neither read nor remembered.
        """
        file = self._folder / path
        try:
            if not file.resolve().is_relative_to(self._folder.resolve()):
                return None
            if not file.is_file():
                return _absence(file)
            with file.open("rb"):
                return None
        except (OSError, ValueError, RuntimeError) as error:
            return _refusal(error)

    def _on_disk(self, file: Path, bytes_max: int) -> bytes | str:
        try:
            # A document that came from elsewhere must not show what lies outside its folder.
            if not file.resolve().is_relative_to(self._folder.resolve()):
                return "it is outside the folder of the document"
            if not file.is_file():
                return _absence(file)
            with file.open("rb") as opened:
                data = opened.read(bytes_max + 1)
        except (OSError, ValueError, RuntimeError) as error:
            return _refusal(error)
        if len(data) > bytes_max:
            return f"it is larger than {bytes_max:,} bytes"
        if self._bytes + len(data) > FILES_BYTES_MAX:
            return f"with it the files of the document are larger than {FILES_BYTES_MAX:,} bytes"
        return data


def _absence(file: Path) -> str:
    return "it is not a file" if file.exists() else "there is no such file"


def _refusal(error: Exception) -> str:
    return getattr(error, "strerror", None) or "its path is not valid"
