"""Read what a rule writes: `set_ctx`, `set_iter`, and `set` with dotted keys."""

from __future__ import annotations

from collections.abc import Mapping

from anew.languages.nodes import Entry, MapNode
from anew.languages.playbook.compilation import Compilation, Site
from anew.languages.playbook.keys import PATCH_KEYS
from anew.program.policy import Patch, PatchTarget

# The canonical key of each target.
SET_NAMES = {PatchTarget.CTX: "set_ctx", PatchTarget.ITER: "set_iter"}
_TARGETS = {name: target for target, name in SET_NAMES.items()} | {"set_vars": PatchTarget.CTX}
_PREFIXES = {"ctx": PatchTarget.CTX, "iter": PatchTarget.ITER, "step": PatchTarget.CTX}


def read_patches(c: Compilation, fields: Mapping[str, Entry]) -> tuple[Patch, ...]:
    """Every patch among the fields of a rule or task, in file order."""
    patches: list[Patch] = []
    for key, entry in fields.items():
        if key not in PATCH_KEYS:
            continue
        node = c.mapping(entry, key)
        if key in ("set", "set_vars"):
            c.noncanonical("strict.set", entry.place, f"`{key}` is used", "`set_ctx` or `set_iter`")
        for item in node or ():
            target, path = patch_target(key, item.key)
            value = c.template(item.node, Site.POLICY)
            patches.append(Patch(target, path, value, item.place))
            if target is PatchTarget.CTX:
                c.ctx_keys.add(path[0])
    return tuple(patches)


def has_dotted_keys(node: object) -> bool:
    """Whether a `set` names its target in its keys, as the `output` dialect does."""
    return isinstance(node, MapNode) and any(
        entry.key.partition(".")[0] in _PREFIXES and "." in entry.key for entry in node
    )


def patch_target(key: str, name: str) -> tuple[PatchTarget, tuple[str, ...]]:
    """Where a name under `set_ctx`, `set_iter`, `set` or `set_vars` is written."""
    target = _TARGETS.get(key)
    if target is not None:
        return target, (name,)
    parts = tuple(name.split("."))
    if not all(parts):
        return PatchTarget.CTX, (name,)
    if len(parts) > 1 and parts[0] in _PREFIXES:
        return _PREFIXES[parts[0]], parts[1:]
    return PatchTarget.CTX, parts
