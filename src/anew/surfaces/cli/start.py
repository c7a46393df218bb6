"""`anew start`: run a document that was registered."""

from __future__ import annotations

from anew.runtime.commands import StartRun
from anew.surfaces.cli.arguments import count, parser_for
from anew.surfaces.cli.identity import add_identity_options, identity_of
from anew.surfaces.cli.overrides import add_workload_options, workload_overrides
from anew.surfaces.cli.run_execution import Intent, add_run_options, carry_out, run_options_of


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
    add_run_options(parser)
    asked = parser.parse_args(words)
    workload = workload_overrides(asked.payload, asked.set)
    command = StartRun(
        name=asked.name,
        version=asked.version,
        workload=workload,
        **identity_of(asked)._asdict(),
    )
    return carry_out(Intent(command), run_options_of(asked))
