"""`anew start`: run a document that was registered."""

from __future__ import annotations

from anew.runtime.command_executor import execute
from anew.runtime.commands import StartRun
from anew.runtime.engine import Engine
from anew.surfaces.cli.arguments import count, parser_for
from anew.surfaces.cli.identity import add_identity_options, identity_of
from anew.surfaces.cli.overrides import (
    add_preflight_option,
    add_workload_options,
    set_names,
    workload_overrides,
)
from anew.surfaces.cli.run_execution import Intent, add_run_options, carry_out, run_options_of
from anew.values import Object


def run(words: list[str]) -> int:
    parser = parser_for(
        "start",
        purpose="Run a registered document by its name, the newest version unless one is given.",
        example="anew start flow --set region=eu",
    )
    parser.add_argument("name", metavar="NAME", help="as `anew programs` lists it, or its path")
    parser.add_argument("--version", type=count, metavar="N", help="which version")
    add_workload_options(parser)
    add_identity_options(parser)
    add_preflight_option(parser)
    add_run_options(parser)
    asked = parser.parse_args(words)
    workload = workload_overrides(asked.payload, asked.set)
    command = StartRun(
        name=asked.name,
        version=asked.version,
        workload=workload,
        **identity_of(asked)._asdict(),
    )

    async def here(engine: Engine) -> Object:
        if not asked.no_preflight:
            from anew.surfaces.cli.preflight import check_credentials, check_inputs

            document = await engine.programs.find(asked.name, asked.version)
            check_inputs(document.program, document.source, set_names(asked.set))
            await check_credentials(engine.keychain, document.program, document.folder)
        return await execute(engine, command)

    return carry_out(Intent(command, here), run_options_of(asked))
