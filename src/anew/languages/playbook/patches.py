"""Read what is written: by rules (`set_ctx`, `set_iter`, `set`), and by the `set` of others."""

from __future__ import annotations

from collections.abc import Mapping

from anew.languages.nodes import Entry, MapNode
from anew.languages.playbook.compilation import Compilation, Site
from anew.languages.playbook.keys import PATCH_KEYS, TASK_SET_KEYS
from anew.program.names import RESERVED
from anew.program.policy import Patch, PatchTarget

# The canonical key of each target; in a `set`, a bare name of a task is local.
SET_NAMES = {
    PatchTarget.LOCAL: "set",
    PatchTarget.CTX: "set_ctx",
    PatchTarget.ITER: "set_iter",
}
_TARGETS = {
    "set_ctx": PatchTarget.CTX,
    "set_iter": PatchTarget.ITER,
    "set_vars": PatchTarget.CTX,
}
# What a key of `set` may say before its first dot.
SET_TARGETS = {"ctx": PatchTarget.CTX, "iter": PatchTarget.ITER, "step": PatchTarget.CTX}
# Bare names that read something else, or would be taken for a target without a name.
_NEVER_LOCAL = RESERVED | SET_TARGETS.keys()
# What may stand before a dot elsewhere, and is nothing that a `set` writes.
OTHER_SCOPES = RESERVED.union(("local", "vars")) - SET_TARGETS.keys()


def read_patches(c: Compilation, fields: Mapping[str, Entry]) -> tuple[Patch, ...]:
    """Every patch among the fields of a rule, in file order."""
    patches: list[Patch] = []
    for key, entry in fields.items():
        if key not in PATCH_KEYS:
            continue
        if key in ("set", "set_vars"):
            c.noncanonical("strict.set", entry.place, f"`{key}` is used", "`set_ctx` or `set_iter`")
        for item in c.mapping(entry, key) or ():
            if key == "set" and is_misnamed(item.key):
                _report_misnamed(c, item)
            else:
                patches.append(_patch(c, item, *patch_target(key, item.key), Site.POLICY))
    return tuple(patches)


def read_task_patches(
    c: Compilation, fields: Mapping[str, Entry], labels: frozenset[str]
) -> tuple[Patch, ...]:
    """What a task writes with every outcome; a bare name of its `set` lasts for the step-run."""
    patches: list[Patch] = []
    for key in TASK_SET_KEYS:
        entry = fields.get(key)
        if entry is not None and key == "set" and has_dotted_keys(entry.node):
            message = "a task's `set` names targets in its keys"
            c.noncanonical("strict.set", entry.place, message, "`set_ctx` or `set_iter`")
        for item in c.mapping(entry, key) or ():
            target, path = patch_target(key, item.key, PatchTarget.LOCAL)
            if key == "set" and is_misnamed(item.key):
                _report_misnamed(c, item, is_task=True)
            elif target is PatchTarget.LOCAL and path[0] in _NEVER_LOCAL:
                _report_reserved(c, item)
            else:
                if target is PatchTarget.LOCAL and path[0] in labels:
                    _report_label(c, item, path[0])
                _add(c, patches, item, _patch(c, item, target, path, Site.TASK_SET))
    return tuple(patches)


def read_visit_patches(c: Compilation, entry: Entry | None) -> tuple[Patch, ...]:
    """What the `set` of a step or an arc writes, in file order."""
    patches: list[Patch] = []
    for item in c.mapping(entry, "set") or ():
        target, path = patch_target("set", item.key)
        if target is PatchTarget.ITER:
            message = f"{item.key!r} is written where no iteration is left that could read it"
            remedy = f"Write `ctx.{'.'.join(path)}`, or `set` it on a task."
            c.report("set.iter", item.place, message, remedy)
        elif is_misnamed(item.key):
            _report_misnamed(c, item)
        else:
            patches.append(_patch(c, item, target, path, Site.VISIT_SET))
    return tuple(patches)


def _report_reserved(c: Compilation, item: Entry) -> None:
    message = f"`set` writes {item.key!r}, a reserved name, so nothing could read it"
    remedy = "Write `ctx.` and a name, or choose another name."
    c.report("set.name", item.place, message, remedy)


def _report_misnamed(c: Compilation, item: Entry, *, is_task: bool = False) -> None:
    scope, _, name = item.key.partition(".")
    if item.key in SET_TARGETS:
        _report_reserved(c, item)
    elif not all(item.key.split(".")):
        message = f"`set` writes {item.key!r}, which is not a name"
        c.report("set.name", item.place, message, "Write `ctx.` and a name, with one dot each.")
    else:
        message = f"`set` writes {item.key!r}, but nothing can write to `{scope}`"
        bare = f", or `{name}` for the later tasks of the step" if is_task else ""
        c.report("set.name", item.place, message, f"Write `ctx.{name}`{bare}.")


def _report_label(c: Compilation, item: Entry, label: str) -> None:
    message = f"`set` writes {item.key!r}, but {label!r} reads the result of the task of that label"
    c.report("name.reserved", item.place, message, "Choose another name.")


def _add(c: Compilation, patches: list[Patch], item: Entry, new: Patch) -> None:
    first = next((p for p in patches if (p.target, p.path) == (new.target, new.path)), None)
    if first is not None:
        message = f"{item.key!r} is already written in line {first.span.line}"
        c.report("set.twice", item.place, message, "Keep one of the two.")
    patches.append(new)


def _patch(
    c: Compilation, item: Entry, target: PatchTarget, path: tuple[str, ...], site: Site
) -> Patch:
    if target is PatchTarget.CTX:
        c.ctx_keys.add(path[0])
    return Patch(target, path, c.template(item.node, site), item.place)


def has_dotted_keys(node: object) -> bool:
    """Whether a `set` names its target in its keys, as the `output` dialect does."""
    return isinstance(node, MapNode) and any(
        entry.key.partition(".")[0] in SET_TARGETS and "." in entry.key for entry in node
    )


def is_misnamed(key: str) -> bool:
    """Whether a key of a `set` names nothing it could write: `ctx`, `ctx..a`, `workload.x`."""
    parts = key.split(".")
    if len(parts) == 1:
        return not key or key in SET_TARGETS
    return not all(parts) or parts[0] in OTHER_SCOPES


def patch_target(
    key: str, name: str, bare: PatchTarget = PatchTarget.CTX
) -> tuple[PatchTarget, tuple[str, ...]]:
    """Where a name under `set_ctx`, `set_iter`, `set` or `set_vars` is written.

    One that does not say so is written to `bare`.
    """
    target = _TARGETS.get(key)
    if target is not None:
        return target, (name,)
    parts = tuple(name.split("."))
    if not all(parts):
        return bare, (name,)
    if len(parts) > 1 and parts[0] in SET_TARGETS:
        return SET_TARGETS[parts[0]], parts[1:]
    return bare, parts


def key_of(target: PatchTarget, path: tuple[str, ...]) -> str:
    """The key of a `set` that is written there."""
    return f"{target.value}.{'.'.join(path)}"
