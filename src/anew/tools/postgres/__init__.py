"""The `postgres` tool: psycopg, a few connections per credential, SQLSTATE in every error."""

from anew.tools.postgres.tool import PostgresTool

__all__ = ["PostgresTool"]
