"""Runs made real: the one place that names concrete stores and tools."""
