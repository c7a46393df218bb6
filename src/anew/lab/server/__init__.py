"""A small HTTP server that fails on purpose, for examples, tests and demonstrations."""

from anew.lab.server.serving import LabServer

__all__ = ["LabServer"]
