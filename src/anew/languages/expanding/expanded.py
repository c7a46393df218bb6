"""Expand a document: the program it compiles to, as a canonical playbook that says everything.

Never reads files; what a document names beside itself is read by its language, as loading does.
"""

from __future__ import annotations

import os

from msgspec import Struct

from anew.errors import ProgramError
from anew.languages import is_dot, load_text
from anew.languages.expanding.annotations import Annotations, default_of
from anew.languages.expanding.origins import Origins
from anew.languages.expanding.steps import StepWriter
from anew.languages.playbook import load_playbook
from anew.languages.playbook.migrate import Migrated, migrate
from anew.languages.yaml_writer import Path, YamlWriter
from anew.program.findings import Finding, errors_in
from anew.program.guard_rules import written
from anew.program.program import FailureMode, Limits, Program
from anew.program.span import Span
from anew.values import Object

_USUAL_LIMITS = Limits()
# With remarks beside them, short lines read better.
_LINE_CHARACTERS_MAX = 90


class Expanded(Struct, frozen=True):
    """`document` is what `text` says; `notes` tell what the playbook language could not say.

    `places` has where the parts of the document stand in the author's own, by their path, and
    `remarks` what is said beside and below them.
    """

    program: Program
    document: Object
    text: str
    places: dict[Path, Span]
    remarks: dict[Path, list[str]]
    notes: list[Finding]


def expand(text: str | bytes, file: str, *, dialect: str | None = None) -> Expanded:
    """The expansion of a document that loads without errors; ProgramError when it does not."""
    loaded = load_text(text, file, dialect=dialect)
    if loaded.program is None:
        raise ProgramError(errors_in(loaded.findings))
    canonical = _canonical(text, file, dialect)
    compiled = _compiled(canonical.text, file, text, loaded.program)
    if compiled is None:
        raise ProgramError(errors_in(canonical.findings))
    notes = Annotations()
    document = _Writer(compiled, Origins(loaded.program), notes).document()
    _place_notes(canonical.findings, document, loaded.program, notes)
    writer = YamlWriter(
        _LINE_CHARACTERS_MAX,
        beside=notes.beside,
        above=notes.above,
        below=notes.below,
        remarked=notes.remarked(),
    )
    written = writer.document(document)
    return Expanded(
        loaded.program, document, written, notes.places, notes.remarks(), canonical.findings
    )


def _compiled(
    canonical: str | None, file: str, text: str | bytes, program: Program
) -> Program | None:
    """The program of the canonical form, which is the author's own where that is canonical."""
    if canonical is None:
        return None
    own = text if isinstance(text, bytes) else text.encode()
    return program if canonical.encode() == own else load_playbook(canonical, file).program


def _canonical(text: str | bytes, file: str, dialect: str | None) -> Migrated:
    if not is_dot(text, os.path.splitext(file)[1].lower()):
        return migrate(text, file)
    # Only those who have a graph pay for its language.
    from anew.languages.translation.to_playbook import graph_to_playbook  # noqa: PLC0415

    return graph_to_playbook(text, file, dialect=dialect)


def _place_notes(
    found: list[Finding], document: Object, program: Program, notes: Annotations
) -> None:
    """Put what could not be said above the step it is about, else at the top."""
    lines = {step.span.line: name for name, step in program.steps.items()}
    order = {step["step"]: index for index, step in enumerate(document["workflow"])}
    for note in found:
        name = lines.get(note.place.line)
        path: Path = ("workflow", order[name]) if name in order else ()
        notes.note(path, f"note: {' '.join(note.message.split())} (line {note.place.line})")


class _Writer(Struct, frozen=True):
    program: Program
    origins: Origins
    notes: Annotations

    def document(self) -> Object:
        program, origin = self.program, self.origins.program
        name = os.path.basename(origin.span.file)
        self.notes.note((), f"What {name} compiles to. All that it leaves unsaid is written out.")
        steps = StepWriter(program, self.origins, self.notes)
        document: Object = {"metadata": {"name": program.name}}
        document["executor"] = {"spec": self._executor(("executor", "spec"))}
        if program.keychain:
            document["keychain"] = list(program.keychain)
        if program.workload:
            document["workload"] = program.workload
        if program.ctx is not None:
            document["ctx"] = program.ctx.source
            self.notes.remark(("ctx",), "what ctx starts with")
        if program.workbook:
            document["workbook"] = [
                {"name": name, "tool": steps.task(task, ("workbook", n, "tool"), step="")}
                for n, (name, task) in enumerate(program.workbook.items())
            ]
        own = [step for step in program.steps.values() if step.compensates is None]
        document["workflow"] = [steps.step(step, ("workflow", n)) for n, step in enumerate(own)]
        return document

    def _executor(self, path: Path) -> Object:
        program = self.program
        spec: Object = {"entry_step": program.entry}
        if program.return_step is not None:
            spec["return_step"] = program.return_step
        else:
            self.notes.absent(path, "return_step: none, the result is that of the last step-run")
        spec["ctx"] = "workload" if program.workload_is_ctx else "empty"
        self.notes.remark((*path, "ctx"), default_of(spec["ctx"], "empty"))
        failure: Object = {"mode": program.failure.value}
        usual = default_of(program.failure, FailureMode.FAIL_FAST)
        self.notes.remark((*path, "policy", "failure", "mode"), usual)
        if program.fallback is not None:
            failure["fallback"] = program.fallback
        spec["policy"] = {"failure": failure}
        spec["limits"] = self._limits((*path, "limits"))
        if program.dependencies:
            spec["dependencies"] = written(program.dependencies)
        if program.priority:
            spec["priority"] = program.priority
        return spec

    def _limits(self, path: Path) -> Object:
        found: Object = {}
        for name in Limits.__struct_fields__:
            value = getattr(self.program.limits, name)
            if value is None:
                self.notes.absent(path, f"{name}: none")
                continue
            found[name] = value
            self.notes.remark((*path, name), default_of(value, getattr(_USUAL_LIMITS, name)))
        return found
