"""What `pip install` brings: the page is in it, and the same sources always give the same wheel."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

import pytest

from anew.surfaces.cli.init import all_templates
from tests.wheels import HATCHLING, HOOK, PARTS, ROOT, WHEEL, build, copied

BUILT = "anew/surfaces/web/built"
PAGE_PARTS = ["src", "public", "index.html", "package.json", "vite.config.ts", "tsconfig.json"]


def disturb(folder: Path) -> None:
    """What differs between two people: times, modes, and what Python leaves behind."""
    for path in folder.rglob("*.py"):
        os.utime(path, (981_173_106, 981_173_106))
        path.chmod(0o600)
    cache = folder / "src/anew/__pycache__"
    cache.mkdir()
    (cache / "store.cpython-311.pyc").write_bytes(b"left behind")


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two of the same sources, made by people whose machines differ."""
    one = copied(tmp_path_factory.mktemp("one"), ROOT, PARTS)
    other = copied(tmp_path_factory.mktemp("other") / "much" / "deeper", ROOT, PARTS)
    disturb(other)
    return (
        build(one, umask=0o022, TZ="UTC", PYTHONHASHSEED="1", LC_ALL="C"),
        build(other, umask=0o077, TZ="Asia/Tokyo", PYTHONHASHSEED="2", LC_ALL="C.UTF-8"),
    )


def test_the_wheel_holds_the_page_and_nothing_that_was_not_built(
    wheels: tuple[Path, Path],
) -> None:
    names = ZipFile(wheels[0]).namelist()
    ours = {name.removeprefix(f"{BUILT}/") for name in names if name.startswith(f"{BUILT}/")}
    folder = ROOT / "src" / BUILT
    assert "index.html" in ours
    assert ours == {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert not [name for name in names if "node_modules" in name or name.endswith(".tsx")]


def test_the_wheel_holds_every_file_of_the_templates(wheels: tuple[Path, Path]) -> None:
    names = set(ZipFile(wheels[0]).namelist())
    templates = all_templates()
    files = [f"{one.name}/{file.as_posix()}" for one in templates for file in one.files]
    assert len(files) > 40
    assert {f"anew/surfaces/templates/{file}" for file in files} <= names


def test_the_wheel_brings_its_licences(wheels: tuple[Path, Path]) -> None:
    names = [name.rpartition("/")[2] for name in ZipFile(wheels[0]).namelist()]
    assert {"LICENSE", "NOTICE"} <= set(names)


def test_the_same_sources_give_the_same_wheel_to_the_byte(wheels: tuple[Path, Path]) -> None:
    one, other = wheels
    assert one.name == other.name
    assert ZipFile(one).namelist() == ZipFile(other).namelist()
    assert sha256(one.read_bytes()).hexdigest() == sha256(other.read_bytes()).hexdigest()


def test_the_same_sources_give_the_same_page_to_the_byte(tmp_path: Path) -> None:
    web = ROOT / "web"
    vite = web / "node_modules/vite/bin/vite.js"
    if not vite.exists():
        pytest.skip("the page is built elsewhere: its packages are not here")
    env = runpy.run_path(str(web / "build.py"))["find_node"]() | {"TZ": "Asia/Tokyo"}
    node = shutil.which("node", path=env["PATH"])
    folder = copied(tmp_path / "another" / "place", web, PAGE_PARTS)
    (folder / "node_modules").symlink_to(web / "node_modules")
    command = [node, str(vite), "build", "--outDir", str(tmp_path / "out"), "--emptyOutDir"]
    done = subprocess.run(
        command, cwd=folder, env=env, umask=0o077, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "out") == contents(ROOT / "src" / BUILT)


def test_a_build_that_cannot_have_the_page_says_why_and_makes_nothing(tmp_path: Path) -> None:
    folder = copied(tmp_path / "tree", ROOT, PARTS, without="built")
    done = subprocess.run(WHEEL, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "Build from a whole checkout or from a source distribution." in done.stderr
    assert "Traceback" not in done.stderr
    assert list(folder.glob("out/*")) == []


def test_an_editable_installation_does_not_wait_for_the_page(tmp_path: Path) -> None:
    hook = runpy.run_path(str(ROOT / HOOK))["PageHook"]
    (tmp_path / "web/src").mkdir(parents=True)  # and no web/build.py, which would have to be there
    hook(str(tmp_path), {}, None, None, str(tmp_path), "wheel").initialize("editable", {})
    with pytest.raises(SystemExit):
        hook(str(tmp_path), {}, None, None, str(tmp_path), "wheel").initialize("standard", {})


def test_a_page_older_than_its_sources_is_built_again(tmp_path: Path) -> None:
    is_built = runpy.run_path(str(ROOT / HOOK))["is_built"]
    page, source = tmp_path / "src" / BUILT / "index.html", tmp_path / "web/src/main.tsx"
    for path in (page, source):
        path.parent.mkdir(parents=True)
    assert not is_built(tmp_path)
    page.touch()
    assert is_built(tmp_path)
    source.touch()
    os.utime(page, (1_000, 1_000))
    assert not is_built(tmp_path)


@pytest.mark.long
def test_without_a_page_and_without_node_a_checkout_gives_the_same_wheel(
    wheels: tuple[Path, Path], tmp_path: Path
) -> None:
    checkout = copied(
        tmp_path / "checkout", ROOT, [*PARTS[:-1], "web", "constraints.txt"], without="built"
    )
    bare = os.environ | {"PATH": str(path_without_node(tmp_path / "bin"))}
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    sdist_words = [*HATCHLING, "-t", "sdist", "-d", "out"]
    subprocess.run(sdist_words, cwd=checkout, env=bare, capture_output=True, check=True)
    [sdist] = (checkout / "out").glob("*.tar.gz")
    # The source distribution has the page: this needs no Node any more, nor a place to get one.
    subprocess.run([*pip, "-w", "unpacked", str(sdist)], cwd=tmp_path, env=bare, check=True)
    [wheel] = (tmp_path / "unpacked").glob("*.whl")
    assert sha256(wheel.read_bytes()).hexdigest() == sha256(wheels[0].read_bytes()).hexdigest()


def path_without_node(folder: Path) -> Path:
    """What a build may call, and no Node."""
    folder.mkdir()
    for name in ("sh", "env", "uname", "dirname", "sed", "git"):
        if (found := shutil.which(name)) is not None:
            (folder / name).symlink_to(found)
    return folder


def contents(folder: Path) -> dict[str, str]:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest() for path in files}
