"""YAML playbooks, in all their dialects, compiled to a Program."""

from anew.languages.playbook.playbook import Loaded, load_playbook

__all__ = ["Loaded", "load_playbook"]
