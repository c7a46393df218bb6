"""`anew signal`: send a run the signal it waits for, or will wait for."""

from __future__ import annotations

import json
import sys

from anew.errors import ConfigError
from anew.runtime.commands import SendSignal, SignWebhook
from anew.runtime.keys import made_key
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import parser_for
from anew.surfaces.cli.command_sending import send_command
from anew.surfaces.cli.documents import STANDARD_INPUT, read_document
from anew.surfaces.cli.hints import hinted
from anew.surfaces.cli.history import add_run_argument
from anew.surfaces.cli.location import add_place_options, is_server
from anew.surfaces.cli.terminal_interview import login
from anew.values import Object, Value


def run(words: list[str]) -> int:
    parser = parser_for(
        "signal",
        purpose="Send a run a signal. A task of kind `wait` that waits for NAME continues with\n"
        "it; a signal that nothing waits for yet is kept for the next task that does.",
        example="anew signal last paid\n"
        "anew signal last paid --payload '{\"amount\": 12}' --id order-17",
    )
    add_run_argument(parser)
    parser.add_argument("name", metavar="NAME", help="the name of the signal")
    parser.add_argument("--payload", metavar="JSON|@FILE|-", help="what it carries (default: null)")
    parser.add_argument("--id", metavar="ID", help="sent again with the same id, it counts once")
    parser.add_argument("--by", metavar="NAME", help="who sends it, for the log (default: you)")
    parser.add_argument(
        "--url", action="store_true", help="send nothing: print an address that others can send to"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_place_options(parser)
    asked = parser.parse_args(words)
    if asked.url:
        return _print_address(asked.place, asked.run, asked.name, is_json=asked.json)
    command = SendSignal(
        run=asked.run,
        name=asked.name,
        payload=_payload(asked.payload),
        id=asked.id or made_key(),
        by=asked.by or login(),
        is_kept_only=True,
    )
    answer = send_command(asked.place, command)
    _print(asked.place, asked.name, answer, is_json=asked.json)
    return status.DONE


def _print(place: str | None, name: str, answer: Object, *, is_json: bool) -> None:
    run, is_new = answer["run"], answer["is_new"]
    if is_json:
        print(json.dumps({"run": run, "signal": name, "accepted": is_new}))
    elif not is_new:
        print(f"run {run} has had this signal already; nothing changed")
    else:
        remedy = f"if no process is working on the run, `anew resume {run}` resumes it"
        print(hinted(f"sent {name} to run {run}; {remedy}", place))


def _print_address(place: str | None, said: str, name: str, *, is_json: bool) -> int:
    answer = send_command(place, SignWebhook(run=said, name=name))
    path = answer["path"]
    row = {"run": answer["run"], "signal": name, "path": path}
    if is_server(place):
        row["url"] = f"{(place or '').rstrip('/')}{path}"
    print(json.dumps(row) if is_json else row.get("url", path))
    if not is_server(place) and not is_json:
        same = "which needs the key of this machine (ANEW_KEY)"
        print(f"anew: put the address of your `anew serve` before it, {same}", file=sys.stderr)
    return status.DONE


def _payload(said: str | None) -> Value:
    if said is None:
        return None
    text: str | bytes = said
    if said == STANDARD_INPUT:
        text = read_document(STANDARD_INPUT)
    elif said.startswith("@"):
        text = read_document(said[1:])
    try:
        return json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"--payload is not JSON: {error}") from error


def _no_number(word: str) -> Value:
    raise ValueError(f"{word} is not a JSON number")
