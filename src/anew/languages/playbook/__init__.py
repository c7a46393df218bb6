"""YAML playbooks, in all their dialects, compiled to a Program."""

from anew.languages.loaded import Loaded
from anew.languages.playbook.playbook import load_playbook

__all__ = ["Loaded", "load_playbook"]
