"""What code gives: its variables, its result, its errors and what it printed."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from anew.engine.outcome import Outcome, with_word
from anew.tools.python.tool import PythonTool
from anew.values import Value
from tests.tools.code_calls import call_of, error_of, python, pythons, with_python


@pytest.mark.parametrize(
    ("code", "result"),
    [
        ("result = x + 1", 42),
        ("def main(x): return x", 41),
        ("def main(x, y=2): return [x, y]", [41, 2]),
        ("def main(x, /, *, name): return [x, name]", [41, "ada"]),
        ("def main(**rest): return rest", {"x": 41, "name": "ada"}),
        ("def main(x, **rest): return rest", {"name": "ada"}),
        ("def main(input_data): return input_data", {"x": 41, "name": "ada"}),
        ("def main(args): return args", {"x": 41, "name": "ada"}),
        ("def main(*more): return len(more)", 0),
        ("async def main(x): return x", 41),
        ("async def f(): return 7\ndef main(): return f()", 7),
        ("main = lambda x: x", 41),
        ("def main(): return 1\nresult = 2", 1),
        ("return x", 41),
        ("if x > 40:\n    return 'more'\nreturn 'less'", "more"),
        ("x = x + 1\nreturn x", 42),
        ("n: int = 5\nunset: str\nreturn n", 5),
        ("def twice(n): return n * k\nk = 2\nreturn twice(x)", 82),
        ("try:\n    return 1\nexcept:\n    return 2", 1),
        ("result = 1\nreturn 2", 2),
        ("result = 1\nreturn", 1),
        ("result = 1\nreturn None", 1),
        ("result = 1\nreturn 0", 0),
        (
            "return json.dumps([os.sep, uuid.UUID(int=1).int, datetime.date(2026, 1, 2).year])",
            '["/", 1, 2026]',
        ),
        ("def main(): return 1\nreturn 2", 1),
        ('"""Text."""\nfrom __future__ import annotations\nreturn x', 41),
        ("import asyncio\nawait asyncio.sleep(0)\nresult = 3", 3),
        ("import asyncio\nawait asyncio.sleep(0)\nreturn 3", 3),
        ("async def f():\n    yield 1\nreturn [i async for i in f()]", [1]),
        ("from math import *\nreturn floor(2.5)", 2),
        ("if x:\n    def main(): return 'inner'", "inner"),
        ("x + 1", None),
        ("", None),
        ("import sys\nresult = 4\nsys.exit()", 4),
        ("import sys\ndef main(): sys.exit(0)", None),
        ("result = [args, input_data]", [{"x": 41, "name": "ada"}] * 2),
        (
            "result = [_key, _task, _attempt, run_id, execution_id]",
            ["key-1", "count", 2, "71", "71"],
        ),
        ("def main(_key, run_id): return [_key, run_id]", ["key-1", "71"]),
    ],
)
def test_the_result_of_code_is_what_it_gives(tmp_path: Path, code: str, result: Value) -> None:
    outcome = python(tmp_path, code, args={"x": 41, "name": "ada"})
    assert (outcome.error, outcome.result) == (None, result)


def test_modules_that_are_there_without_an_import_are_below_inputs(tmp_path: Path) -> None:
    outcome = python(tmp_path, "result = [json, os]", args={"json": 1, "os": 2})
    assert outcome.result == [1, 2]


LIBS: Value = {
    "m": "math",
    "path": "os.path",
    "Decimal": {"from": "decimal", "import": "Decimal"},
    "request": {"from": "urllib", "import": "request"},
}


def test_libs_are_imported_first_and_win_over_inputs(tmp_path: Path) -> None:
    code = "result = [m.floor(2.5), path.join('a', 'b'), str(Decimal('1.50')), request.__name__]"
    outcome = python(tmp_path, code, libs=LIBS, args={"m": 1, "path": "mine"})
    assert outcome.result == [2, "a/b", "1.50", "urllib.request"]
    assert python(tmp_path, "def main(m): return m.floor(2.5)", libs=LIBS).result == 2


@pytest.mark.parametrize(
    ("libs", "kind", "message"),
    [
        ({"pd": "no_such"}, "python_error", "no module 'no_such' (libs.pd): install it"),
        ({"x": "json.no_such"}, "python_error", "no module 'json.no_such' (libs.x)"),
        ({"x": {"from": "math", "import": "no"}}, "python_error", "module 'math' has no 'no'"),
        ({"x": {"from": "math"}}, "config", "libs.x is neither a module nor"),
        ("pandas", "config", "libs must be a mapping"),
    ],
)
def test_what_libs_cannot_import_is_named(
    tmp_path: Path, libs: Value, kind: str, message: str
) -> None:
    problem = error_of(python(tmp_path, "result = 1", libs=libs))
    assert (problem["kind"], message in problem["message"]) == (kind, True)


def test_a_module_of_libs_that_is_broken_itself_says_so(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import no_such_inside")
    problem = error_of(python(tmp_path, "result = 1", libs={"mine": "mine"}))
    assert problem["message"] == "No module named 'no_such_inside'"


def test_libs_as_a_list_has_no_effect(tmp_path: Path) -> None:
    assert python(tmp_path, "result = 1", libs=["no_such"]).result == 1


def test_the_names_of_a_loop_are_variables_below_inputs(tmp_path: Path) -> None:
    async def work(tool: PythonTool) -> list[Value]:
        found = []
        for args in ({}, {"row": "mine"}):
            call = call_of(
                "python", tmp_path, code="def main(row): return [row, _index]", args=args
            )
            asked = replace(call, names={"row": 7, "_index": 2})
            found.append((await tool.call(asked)).result)
        return found

    assert with_python(work) == [[7, 2], ["mine", 2]]


CONTEXT: Value = {
    "workload": {"a": "w", "b": "w", "c": "w"},
    "ctx": {"a": "c", "b": "c"},
    "steps": {"a": {"n": 1}, "list": [1]},
    "execution_id": "9",
}


def in_context(folder: Path, code: str, context: Value = CONTEXT, **inputs: Value) -> Outcome:
    async def given() -> Value:
        return context

    call = replace(call_of("python", folder, code=code, **inputs), context=given)
    return with_python(lambda tool: tool.call(call))


def test_context_has_workload_ctx_and_results_by_name(tmp_path: Path) -> None:
    outcome = in_context(tmp_path, "result = context")
    assert outcome.result == {
        "a": {"n": 1},
        "b": "c",
        "c": "w",
        "list": [1],
        "workload": {"a": "w", "b": "w", "c": "w"},
        "ctx": {"a": "c", "b": "c"},
        "execution_id": "9",
    }
    assert in_context(tmp_path, "def main(context): return context['b']").result == "c"
    code = "result = [context['a'].get('data'), 'keychain' in context]"
    assert in_context(tmp_path, code).result == [{"n": 1}, False]


def test_the_context_is_made_only_for_a_script_that_reads_it(tmp_path: Path) -> None:
    made = []

    async def given() -> Value:
        made.append(CONTEXT)
        return CONTEXT

    (tmp_path / "reads.py").write_text("result = context['b']")
    (tmp_path / "not.py").write_text("result = 'context' in globals()")
    for name, result, count in (("not.py", False, 0), ("reads.py", "c", 1)):
        call = replace(call_of("python", tmp_path, script=name), context=given)
        assert with_python(lambda tool, call=call: tool.call(call)).result == result
        assert len(made) == count


def test_more_context_than_a_process_takes_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anew.tools.python.tool.CODE_CONTEXT_BYTES_MAX", 50)
    problem = error_of(in_context(tmp_path, "result = context"))
    assert problem["kind"] == "limit_exceeded"
    assert "Pass what the code needs with `input`" in problem["message"]


def test_an_argument_called_result_is_not_the_result_of_code_that_returns(tmp_path: Path) -> None:
    assert python(tmp_path, "return result['n']", args={"result": {"n": 3}}).result == 3


def test_an_argument_may_be_called_args(tmp_path: Path) -> None:
    outcome = python(
        tmp_path, "def main(args, **rest): return [args, rest]", args={"args": 5, "b": 6}
    )
    assert outcome.result == [5, {"b": 6}]


@pytest.mark.parametrize(
    ("code", "ran"),
    [
        ("def main(): return 'main'\nif __name__ == '__main__': raise SystemExit(9)", "main"),
        ("if __name__ == '__main__': result = 'script'", "script"),
    ],
)
def test_lines_for_scripts_run_only_where_nobody_calls_main(
    tmp_path: Path, code: str, ran: str
) -> None:
    assert python(tmp_path, code).result == ran


def test_a_missing_argument_of_main_is_named(tmp_path: Path) -> None:
    error = error_of(python(tmp_path, "def main(town): pass", args={"city": 1}))
    assert error["kind"] == "config"
    assert "'town'" in error["message"]
    assert "city" in error["message"]


def test_a_script_runs_beside_its_document_and_imports_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "prices.py").write_text("CENTS = 5\n")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/work.py").write_text(
        "import os, prices, sys\nresult = [prices.CENTS, os.getcwd(), __file__, sys.argv]\n"
    )
    outcome = python(tmp_path, script="lib/work.py")
    place = str(tmp_path / "lib/work.py")
    assert outcome.result == [5, str(tmp_path), place, ["lib/work.py"]]


def test_a_neighbour_that_changed_is_read_again(tmp_path: Path) -> None:
    async def work(tool: Value) -> list[Value]:
        found = []
        for n in (1, 22):
            folder = tmp_path / str(n)
            folder.mkdir()
            (folder / "prices.py").write_text(f"CENTS = {n}\n")
            call = call_of(
                "python", folder, code="import prices, os\nresult = [prices.CENTS, os.getpid()]"
            )
            found.append((await tool.call(call)).result)
        return found

    (first, pid), (second, same_pid) = with_python(work)
    assert (first, second) == (1, 22)
    assert pid == same_pid


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({}, "one of code and script"),
        ({"code": "1", "script": "a.py"}, "one of code and script"),
        ({"code": 5}, "code must be text"),
        ({"script": ["a.py"]}, "script must be a file, or a mapping"),
        ({"code": "1", "args": [1]}, "args must be a mapping"),
        ({"script": "."}, "cannot be read: Is a directory"),
        ({"code": "a = 1\nx = = 2"}, "invalid syntax (line 2: `x = = 2`)"),
        ({"code": "def f(:"}, "line 1"),
        ({"code": "x = '\0'"}, "null bytes"),
        ({"code": "return 1\nyield 2"}, "'yield' outside function"),
        ({"code": "(" * 5000}, "cannot be compiled"),
    ],
)
def test_a_task_that_cannot_be_run_as_written_is_a_config_error(
    tmp_path: Path, inputs: dict[str, Value], words: str
) -> None:
    error = error_of(python(tmp_path, **inputs))
    assert error["kind"] == "config"
    assert words in error["message"]


@pytest.mark.parametrize(
    ("code", "kind", "name"),
    [
        ("1 / 0", "python_error", "ZeroDivisionError"),
        ("raise TimeoutError('x')", "timeout", "TimeoutError"),
        ("import socket\nraise socket.timeout('x')", "timeout", "TimeoutError"),
        (
            "import asyncio\nasync def main():\n    async with asyncio.timeout(0): await asyncio.sleep(9)",
            "timeout",
            "TimeoutError",
        ),
        (
            "import subprocess\nsubprocess.run(['sleep', '9'], timeout=0.01)",
            "timeout",
            "TimeoutExpired",
        ),
        ("import multiprocessing\nraise multiprocessing.TimeoutError", "timeout", "TimeoutError"),
        ("raise ConnectionRefusedError('x')", "connection", "ConnectionRefusedError"),
        ("import socket\nraise socket.gaierror('x')", "connection", "gaierror"),
        ("import urllib.error\nraise urllib.error.URLError(TimeoutError())", "timeout", "URLError"),
        ("import httpx2\nraise httpx2.ReadTimeout('x')", "timeout", "ReadTimeout"),
        ("import httpx2\nraise httpx2.ConnectError('x')", "connection", "ConnectError"),
        ("import sys\nsys.exit(3)", "python_error", "SystemExit"),
        ("raise KeyboardInterrupt", "python_error", "KeyboardInterrupt"),
        ("class Odd(BaseException): pass\nraise Odd", "python_error", "Odd"),
        ("def f(): f()\nf()", "python_error", "RecursionError"),
        (
            "class Mute(Exception):\n    def __str__(self): raise ValueError\nraise Mute",
            "python_error",
            "Mute",
        ),
        ("raise ValueError('\\ud800')", "python_error", "ValueError"),
        ("raise ExceptionGroup('two', [ValueError()])", "python_error", "ExceptionGroup"),
        ("return input()", "python_error", "EOFError"),
    ],
)
def test_an_exception_is_an_error_of_its_kind(
    tmp_path: Path, code: str, kind: str, name: str
) -> None:
    outcome = python(tmp_path, code)
    error = error_of(outcome)
    assert (error["kind"], error["code"]) == (kind, name)
    told = outcome.helpers["py"]["exception"]
    assert outcome.helpers == {"py": {"exception": told, "exception_type": name}}
    assert error["message"] == with_word(kind, told) != ""


def test_a_result_without_a_json_form_is_named(tmp_path: Path) -> None:
    outcome = python(tmp_path, "result = {'rows': [1, object()]}")
    error = error_of(outcome)
    assert (error["kind"], error["code"]) == ("python_error", "TypeError")
    assert error["message"].startswith(
        "the result.rows[1] is of the type object, which has no JSON"
    )
    assert outcome.helpers["py"]["exception_type"] == "TypeError"


def test_an_error_says_which_of_the_authors_lines_led_to_it(tmp_path: Path) -> None:
    (tmp_path / "prices.py").write_text("def cents(n):\n    return 1 / n\n")
    code = "import prices\n\ndef main():\n    return each(0)\n\ndef each(n):\n    return prices.cents(n)\n"
    error = error_of(python(tmp_path, code))
    assert (
        error["where"] == "line 2 in cents of prices.py, from line 7 in each, from line 4 in main"
    )
    assert error_of(python(tmp_path, "\n\nif 1:\n    return 1 / 0"))["where"] == "line 4"


def test_an_exception_can_wish_for_a_delay(tmp_path: Path) -> None:
    code = "problem = RuntimeError('busy')\nproblem.retry_after = 7\nraise problem"
    error = error_of(python(tmp_path, code))
    assert (error["message"], error["retry_after"]) == ("busy", 7)


def test_a_long_message_is_cut(tmp_path: Path) -> None:
    assert len(error_of(python(tmp_path, "raise ValueError('x' * 10**6)"))["message"]) == 10_001


def test_a_result_that_says_error_is_one(tmp_path: Path) -> None:
    outcome = python(tmp_path, "result = {'status': 'error', 'message': 'no stock'}")
    assert (error_of(outcome)["kind"], error_of(outcome)["message"]) == ("tool_error", "no stock")


def test_everything_that_is_printed_or_logged_is_kept_by_stream(tmp_path: Path) -> None:
    code = """
import logging, os, subprocess, sys
print("text")
os.write(1, b"bytes\\n")
subprocess.run(["echo", "child"])
print("problem", file=sys.stderr)
logging.info("seen %d", 3)
logging.debug("unseen")
try:
    1 / 0
except ZeroDivisionError:
    logging.getLogger("shop.cart").exception("broke")
"""
    logs = python(tmp_path, code).logs
    assert (logs["stdout"], logs["stderr"]) == ("text\nbytes\nchild\n", "problem\n")
    assert logs["log"][0] == {"level": "INFO", "logger": "root", "message": "seen 3"}
    assert (logs["log"][1]["logger"], len(logs["log"])) == ("shop.cart", 2)
    assert 'File "<count>", line 10' in logs["log"][1]["message"]
    assert "1 / 0" in logs["log"][1]["message"]


def test_code_that_prints_nothing_has_no_logs(tmp_path: Path) -> None:
    assert python(tmp_path, "result = 1").logs == {}


def test_an_error_keeps_what_was_printed(tmp_path: Path) -> None:
    assert python(tmp_path, "print('before')\n1 / 0").logs == {"stdout": "before\n"}


def test_output_is_cut_in_the_middle_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANEW_OUTPUT_BYTES_MAX", "40000")
    code = "import logging\nprint('start' + 'x' * 3_000_000 + 'end')\nfor n in range(999): logging.info('y' * 100)"
    logs = python(tmp_path, code).logs
    assert logs["stdout"].startswith("start")
    assert logs["stdout"].endswith("xend\n")
    assert "… 2,960,009 bytes left out (ANEW_OUTPUT_BYTES_MAX) …" in logs["stdout"]
    assert len(logs["stdout"]) < 41_000
    assert "more records left out" in logs["log"][-1]["message"]
    assert len(logs["log"]) < 400


def test_one_call_does_not_see_what_another_changed(tmp_path: Path) -> None:
    spoil = """
import logging, os, random, signal, sys, warnings
os.environ["LEFT"] = "1"
os.chdir("/")
os.umask(0)
sys.path.insert(0, "/nowhere")
sys.setrecursionlimit(77)
signal.alarm(1)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
random.seed(1)
left = 1
logging.getLogger().setLevel("ERROR")
logger = logging.getLogger(__name__)
logger.addHandler(logging.StreamHandler())
logger.error("w")
def main(): return [os.getpid(), random.random()]
"""
    look = """
import os, signal, sys
result = [os.getpid(), os.environ.get("LEFT"), os.getcwd(), os.umask(0o22), "/nowhere" in sys.path,
  sys.getrecursionlimit() > 500, signal.alarm(0), signal.getsignal(signal.SIGTERM) is signal.SIG_DFL,
  "left" in globals()]
"""
    first, again, seen = pythons(tmp_path, spoil, spoil, look)
    assert seen.result == [first.result[0], None, str(tmp_path), 0o22, False, True, 0, True, False]
    assert first.result[1] == 0.13436424411240122
    assert again.result[0] == first.result[0]
    assert [len(each.logs["log"]) for each in (first, again)] == [1, 1]
    assert again.logs["stderr"] == "w\n"


def test_chance_is_not_seeded_by_the_code_before(tmp_path: Path) -> None:
    draw = "import random\nresult = random.random()"
    _, first, _, second = pythons(
        tmp_path, "import random\nrandom.seed(1)", draw, "import random\nrandom.seed(1)", draw
    )
    assert first.result != second.result


def test_classes_of_the_code_can_be_pickled_and_made_into_data(tmp_path: Path) -> None:
    code = """
from __future__ import annotations
import dataclasses, pickle
@dataclasses.dataclass
class Point:
    x: int
def main():
    return pickle.loads(pickle.dumps(Point(3)))
"""
    assert python(tmp_path, code).result == {"x": 3}


def test_code_gets_what_the_operator_allows_and_no_keys_of_the_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("ANEW_KEY", "ANEW_TOKEN", "ANEW_CREDENTIAL_SHOP", "MY_SETTING", "OTHER", "LC_TIME")
    for name in names:
        monkeypatch.setenv(name, "told")
    monkeypatch.setenv("ANEW_TASK_ENV", "MY_SETTING, ABSENT")
    code = "import os\nresult = sorted(k for k, v in os.environ.items() if v == 'told')"
    assert python(tmp_path, code).result == ["LC_TIME", "MY_SETTING"]
