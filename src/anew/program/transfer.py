"""The kind `transfer`: its row, and a row for each side that rows can come from or go to.

A side is described like a kind: which inputs it has, their older names, which it needs. Checks,
schemas and the tool read these rows. Knows no database, file or server.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec.structs import replace

from anew.program.extras import DUCKDB, POSTGRES
from anew.program.kind import Kind, Outage

BATCH_ROWS = 1000
TRANSFER_BATCH_ROWS_MAX = 100_000


class TransferMode(StrEnum):
    """What becomes of the rows that are there already."""

    APPEND = "append"
    REPLACE = "replace"
    UPSERT = "upsert"


MODE_WORDS: Mapping[str, TransferMode] = {
    **{mode.value: mode for mode in TransferMode},
    "insert": TransferMode.APPEND,
    "overwrite": TransferMode.REPLACE,
}


class RowFormat(StrEnum):
    """How a file holds rows."""

    CSV = "csv"
    JSON_LINES = "jsonl"
    JSON = "json"


FORMAT_WORDS: Mapping[str, RowFormat] = {
    **{form.value: form for form in RowFormat},
    "ndjson": RowFormat.JSON_LINES,
    "json_lines": RowFormat.JSON_LINES,
}

_DATABASE = "A database file, relative to the document; a file of the run unless given."
_MAPPING = "Which field of a row each column gets: `{column: field}`; `a.b` reads inside a field."
_PATH = "The file, relative to the document."
_FORMAT = f"{', '.join(RowFormat)}; by the name of the file unless given."
_HEADERS = "Header fields, by name."
_VERIFY = "Whether certificates are verified. Default true."
_FILE_ALIASES = dict.fromkeys("connection path file".split(), "database")

_SQL_SOURCE = Kind(
    "",
    inputs={
        "query": "The statement that gives the rows.",
        "table": "The table whose rows are read, instead of a query.",
        "params": "Values that are bound, by name or as a list.",
        "key": "The column, or list of columns, that the rows are read in the order of. Unique "
        "and never null.",
        "database": _DATABASE,
    },
    aliases={"command": "query", "sql": "query", "keys": "key"},
    required=(("query", "table"),),
    choices=(("query", "table"),),
    sql=frozenset({"query"}),
)
_SQL_TARGET = Kind(
    "",
    inputs={
        "table": "The table that gets the rows; it must exist.",
        "mapping": _MAPPING,
        "key": "The column or columns that say which row is the same, for `upsert`.",
        "progress": "The table that keeps how far each transfer is; `anew_transfers` unless given.",
        "database": _DATABASE,
    },
    aliases={"keys": "key", "key_columns": "key", "conflict_columns": "key"},
    required=(("table",),),
)
_SERVER = {"database": "The name of the database, unless the credential says it."}

SOURCES: Mapping[str, Kind] = {
    "postgres": replace(
        _SQL_SOURCE,
        name="postgres",
        inputs={**_SQL_SOURCE.inputs, **_SERVER},
        aliases={**_SQL_SOURCE.aliases, "connection": "auth"},
        required=(*_SQL_SOURCE.required, ("auth",)),
        folds_names=True,
        extra=POSTGRES,
    ),
    "sqlite": replace(_SQL_SOURCE, name="sqlite", aliases={**_SQL_SOURCE.aliases, **_FILE_ALIASES}),
    "duckdb": replace(
        _SQL_SOURCE,
        name="duckdb",
        aliases={**_SQL_SOURCE.aliases, **_FILE_ALIASES},
        paths=("database",),
        sql_mark="$",
        extra=DUCKDB,
    ),
    "http": Kind(
        "http",
        inputs={
            "url": "The address, with http:// or https://.",
            "method": "GET unless given.",
            "params": "The query, by name.",
            "headers": _HEADERS,
            "json": "The body, sent as JSON.",
            "data_path": "Where the rows are in the answer: `data.items`. The whole answer unless "
            "given.",
            "format": f"{', '.join(RowFormat)}; by the content type unless given.",
            "paginate": "How to get further pages: `{next: path}` with the address of the next "
            "page in the answer (`link`: in the header `Link`), `{next: path, param: name}` with "
            "a cursor, `{page: name}` or `{offset: name}` with a number that is counted.",
            "verify": _VERIFY,
        },
        aliases={"endpoint": "url", "verify_ssl": "verify", "data_selector": "data_path"},
        required=(("url",),),
    ),
    "file": Kind(
        "file",
        inputs={
            "path": _PATH,
            "format": _FORMAT,
            "data_path": "Where the rows are in a JSON file; the whole file unless given.",
        },
        aliases={"file": "path", "data_selector": "data_path"},
        required=(("path",),),
        paths=("path",),
    ),
}
TARGETS: Mapping[str, Kind] = {
    "postgres": replace(
        _SQL_TARGET,
        name="postgres",
        inputs={**_SQL_TARGET.inputs, **_SERVER},
        aliases={**_SQL_TARGET.aliases, "connection": "auth"},
        required=(*_SQL_TARGET.required, ("auth",)),
        folds_names=True,
        extra=POSTGRES,
    ),
    "sqlite": replace(_SQL_TARGET, name="sqlite", aliases={**_SQL_TARGET.aliases, **_FILE_ALIASES}),
    "duckdb": replace(
        _SQL_TARGET,
        name="duckdb",
        aliases={**_SQL_TARGET.aliases, **_FILE_ALIASES},
        paths=("database",),
        extra=DUCKDB,
    ),
    "http": Kind(
        "http",
        inputs={
            "url": "The address that each batch is sent to.",
            "method": "POST unless given.",
            "params": "The query, by name.",
            "headers": _HEADERS,
            "rows_key": "Send `{name: [rows]}` instead of the list alone.",
            "mapping": _MAPPING,
            "verify": _VERIFY,
        },
        aliases={"endpoint": "url", "verify_ssl": "verify"},
        required=(("url",),),
    ),
    "file": Kind(
        "file",
        inputs={"path": _PATH, "format": _FORMAT, "mapping": _MAPPING},
        aliases={"file": "path"},
        required=(("path",),),
        paths=("path",),
    ),
}
# The modes a side can be written in; all of them unless it is here.
TARGET_MODES: Mapping[str, tuple[TransferMode, ...]] = {
    "http": (TransferMode.APPEND,),
    "file": (TransferMode.APPEND, TransferMode.REPLACE),
}

TRANSFER = Kind(
    "transfer",
    title="Copies rows from one side to another, batch by batch.",
    inputs={
        "source": f"Where the rows come from: `{{type: {' | '.join(SOURCES)}, …}}`.",
        "target": f"Where they go: `{{type: {' | '.join(TARGETS)}, …}}`.",
        "batch_size": f"Rows that are written together; {BATCH_ROWS} unless given.",
        "mode": "append (default), replace (the rows there are removed first) or upsert.",
        "mapping": _MAPPING,
    },
    aliases={"chunk_size": "batch_size"},
    required=(("source",), ("target",)),
    texts=frozenset({"batch_size", "mode"}),
    # It resumes at the next batch: the limit is for one that hangs.
    timeout_seconds=3600.0,
    tool="anew.tools.transfer:TransferTool",
    sides={"source": SOURCES, "target": TARGETS},
    word_inputs={"mode": MODE_WORDS},
    effect=("copies rows to {target}",),
    outage=Outage("db_connection", "the connection was reset"),
)
