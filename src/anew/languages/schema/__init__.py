"""The JSON Schema of playbooks, for editors: made from the tables the compiler itself reads by."""

from __future__ import annotations

from anew.languages.schema.playbook import playbook_schema

__all__ = ["playbook_schema"]
