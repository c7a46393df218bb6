"""Runs at a server: every protocol of `anew.store` over HTTP, for workers and for people."""

from anew.stores.remote.database import RemoteDatabase

__all__ = ["RemoteDatabase"]
