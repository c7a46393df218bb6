"""Runs in one SQLite file: the default, for one owner process and any number of readers."""

from anew.stores.sqlite.database import SqliteDatabase

__all__ = ["SqliteDatabase"]
