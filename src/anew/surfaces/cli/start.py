"""`anew start`: run a document that was registered."""

from __future__ import annotations

from anew.runtime.commands import StartRun
from anew.runtime.keys import check_key, made_key
from anew.surfaces.cli.arguments import count, parser_for
from anew.surfaces.cli.overrides import add_workload_options, workload_overrides
from anew.surfaces.cli.run_execution import Intent, add_run_options, carry_out, run_options_of
from anew.surfaces.labels import labels_of


def run(words: list[str]) -> int:
    parser = parser_for(
        "start",
        purpose="Run a registered document by its name, the newest version unless one is given.",
        example="anew start flow --set region=eu",
    )
    parser.add_argument("name", metavar="NAME", help="as `anew programs` lists it, or its path")
    parser.add_argument("--version", type=count, metavar="N", help="which version")
    add_workload_options(parser)
    parser.add_argument("--key", metavar="K", help="the same key always means the same run")
    parser.add_argument(
        "--label", action="append", default=[], metavar="K=V", help="a label to find the run by"
    )
    add_run_options(parser)
    asked = parser.parse_args(words)
    workload = workload_overrides(asked.payload, asked.set)
    key, labels = check_key(asked.key) or made_key(), labels_of(asked.label)

    command = StartRun(
        name=asked.name,
        version=asked.version,
        workload=workload,
        key=key,
        labels=labels,
    )
    return carry_out(Intent(command), run_options_of(asked))
