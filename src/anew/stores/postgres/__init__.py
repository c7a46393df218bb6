"""Runs in a PostgreSQL database, for any number of processes on any number of machines."""

from anew.stores.postgres.database import PostgresDatabase

__all__ = ["PostgresDatabase"]
