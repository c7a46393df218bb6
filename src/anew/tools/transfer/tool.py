"""Copy rows, batch by batch, and resume after the last batch that is on the other side.

Knows the two sides by their contracts only. Keeps no state of its own between calls.
"""

from __future__ import annotations

from contextlib import aclosing
from importlib import import_module
from types import ModuleType

from anew.engine.outcome import Outcome, error_of, outcome_of
from anew.program.kind import Kind
from anew.tool import Call
from anew.tools.inputs import BadInput
from anew.tools.sql.failure import SqlFailure
from anew.tools.transfer.plan import TransferPlan, plan_of
from anew.tools.transfer.resources import TransferResources
from anew.tools.transfer.sides import Copied, SideFailed, TransferSource, TransferTarget


class TransferTool:
    """The tool of kind `transfer`; see docs/reference/tools/transfer.md."""

    def __init__(self) -> None:
        self._resources = TransferResources()

    async def call(self, call: Call) -> Outcome:
        try:
            progress = await self._transfer(plan_of(call))
        except BadInput as problem:
            return outcome_of(error=error_of("config", str(problem)))
        except SqlFailure as failure:
            return failure.outcome()
        except SideFailed as failed:
            return failed.outcome
        return outcome_of({"rows": progress.rows, "batches": progress.batches})

    async def close(self) -> None:
        await self._resources.close()

    async def _transfer(self, plan: TransferPlan) -> Copied:
        source: TransferSource = _module_of(plan.source.kind).source_of(
            plan.source, self._resources
        )
        target: TransferTarget = _module_of(plan.target.kind).target_of(plan, self._resources)
        try:
            progress = await target.begin()
            return progress if progress.is_done else await _copied(plan, source, target, progress)
        finally:
            await target.close()


async def _copied(
    plan: TransferPlan, source: TransferSource, target: TransferTarget, progress: Copied
) -> Copied:
    async with aclosing(source.batches(progress.position, plan.size)) as batches:
        async for batch in batches:
            after = progress.after(batch)
            rows = plan.mapped(batch, is_first=progress.batches == 0)
            await target.write(rows, progress, after)
            progress = after
    await target.write([], progress, progress.at_end)
    return progress


def _module_of(kind: Kind) -> ModuleType:
    """The module of a side, `<type>_side`: some bring libraries that others do not need."""
    extra = kind.extra
    if extra is not None and extra.is_missing:
        problem = extra.problem(f"a side of type {kind.name} needs")
        raise BadInput(f"{problem}. Install it: {extra.command}")
    return import_module(f"anew.tools.transfer.{kind.name}_side")
