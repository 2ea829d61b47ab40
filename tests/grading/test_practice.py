"""What an installation holds of the exercises, and what teachers have besides."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from dataclasses import fields
from pathlib import Path

import pytest
from click.testing import CliRunner

from autodiff_kit.cli import cli
from autodiff_kit.grading.calls import Work
from autodiff_kit.grading.course import Course, open_course
from autodiff_kit.grading.course_files import checks_hash
from autodiff_kit.grading.engine_parts import engine_of
from autodiff_kit.grading.exercise import ExerciseError
from autodiff_kit.grading.marking import grade_code
from autodiff_kit.grading.practice_pack import PACK, pack, unpack
from autodiff_kit.grading.puzzles import puzzles_in
from autodiff_kit.grading.worker import Level0
from tests.grading import tiny

ROOT = Path(__file__).parents[2]
EXERCISES = ROOT / "exercises"
KEY, NAME = "04.accumulate", "e04_accumulate"


def as_installed(folder: Path, place: Path) -> Course:
    """Return a course of which only that is there which a wheel has."""
    for path in [folder / "course.toml", *folder.glob("release/*/*.ipynb")]:
        target = place / path.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    (place / PACK).write_bytes(pack(folder))
    return open_course(place)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return as_installed(EXERCISES, tmp_path_factory.mktemp("installed"))


def test_an_installation_judges_by_the_same_as_a_clone(installed: Course) -> None:
    clone = open_course(EXERCISES)
    same = {"id", "steps", "hints", "messages", "mutants", "given", "locked", "solution", "engine"}
    names = [field.name for field in fields(clone.exercises()[0]) if field.name in same]

    for here, there in zip(installed.exercises(), clone.exercises(), strict=True):
        assert all(getattr(here, name) == getattr(there, name) for name in names)
        assert [(c.name, c.points, c.driver) for c in here.checks] == [
            (c.name, c.points, c.driver) for c in there.checks
        ]
        assert here.alternatives == () != there.alternatives
        assert checks_hash(installed.folder, here.name) == checks_hash(EXERCISES, there.name)
    assert engine_of(installed.folder) == engine_of(EXERCISES)
    exercise = installed.exercise(KEY)
    assert puzzles_in(installed.folder, exercise) == puzzles_in(EXERCISES, exercise)


def test_a_learner_is_told_the_known_mistake(installed: Course) -> None:
    exercise = installed.exercise(KEY)
    mutant = next(m for m in exercise.mutants if m.message == "adds_twice")
    codes = [exercise.solution, f"{exercise.solution}\n\n{mutant.code}"]

    right, wrong = (grade_code(exercise, Work.of(code), Level0(), 1) for code in codes)

    assert right.points == right.max
    assert wrong.rows[-1].text.startswith(exercise.messages["adds_twice"])


def test_what_only_teachers_have_is_asked_for(
    installed: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(installed.folder)
    before = sorted(path.stat().st_mtime_ns for path in installed.folder.rglob("*"))

    for words in (["build"], ["build", "--teacher", "t.zip"], ["verify", KEY]):
        result = CliRunner().invoke(cli, words)
        assert result.exit_code == 1 and "build --teacher FILE" in result.output
    assert sorted(path.stat().st_mtime_ns for path in installed.folder.rglob("*")) == before


@pytest.mark.parametrize("data", [b"", b"no pack", pack(EXERCISES)[:-100]])
def test_a_damaged_installation_is_told(data: bytes, tmp_path: Path) -> None:
    course = as_installed(tiny.make_course(tmp_path / "course").folder, tmp_path / "installed")
    (course.folder / PACK).write_bytes(data)

    with pytest.raises(ExerciseError, match="Cannot read the exercise"):
        course.exercise("01.double")


def test_nothing_in_a_pack_can_be_read_as_it_lies_there() -> None:
    data = pack(EXERCISES)

    assert pack(EXERCISES) == data  # the same files, the same bytes
    files = unpack(data)
    assert not any("alternatives" in path for path in files)
    for text in (b"BEGIN SOLUTION", b"def expected", b"[adds_twice]", b'"cells"'):
        assert text not in data and any(text in content for content in files.values())


def test_the_teachers_archive_has_all_of_the_course(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny.make_course(tmp_path / "mine").folder
    (folder / "results").mkdir()
    (folder / "results" / "results.sqlite").write_bytes(b"grades")
    monkeypatch.chdir(folder)
    run("build")
    output = run("build", "--teacher", "../all.zip", "--handout", "../some.zip")
    run("build", "--teacher", "../again.zip")

    assert "all.zip: the whole course, with its solutions: for teachers alone" in output
    assert (tmp_path / "all.zip").read_bytes() == (tmp_path / "again.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        assert not any("results" in name for name in archive.namelist())
        archive.extractall(tmp_path / "there")
    there = tmp_path / "there" / "mine"
    assert open_course(there).exercise("01").solution == open_course(folder).exercise("01").solution
    monkeypatch.chdir(there)
    assert "0 of them new or changed" in run("build", "--check")


def run(*words: str) -> str:
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 0, result.output
    return result.output


# -- The wheel itself ------------------------------------------------------------------------------


def answers() -> dict[str, str]:
    """Return what no learner's wheel may show: name -> text."""
    texts = {}
    for exercise in open_course(EXERCISES).exercises():
        own = json.loads(
            (EXERCISES / "source" / exercise.name / f"{exercise.name}.ipynb").read_text()
        )
        for number, cell in enumerate(own["cells"]):
            source = "".join(cell["source"])
            if "### BEGIN SOLUTION" in source:
                solution = source.split("### BEGIN SOLUTION\n")[1].split("### END SOLUTION")[0]
                texts[f"{exercise.name}: solution {number}"] = solution
        home = EXERCISES / "checks" / exercise.name
        mutants = tomllib.loads((home / "mutants.toml").read_text(encoding="utf-8"))
        texts |= {f"{home.name}: {n}": m.get("code", m.get("new", "")) for n, m in mutants.items()}
        for path in (home / "checks.py", *home.glob("alternatives/*.py")):
            texts[f"{exercise.name}: {path.name}"] = path.read_text(encoding="utf-8")
    # A line or two may stand anywhere.
    return {name: text for name, text in texts.items() if len(text.split()) > 15}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    words = ["-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(folder), str(ROOT)]
    subprocess.run([sys.executable, *words], check=True, capture_output=True)
    return next(folder.glob("*.whl"))


@pytest.mark.gate
def test_no_answer_lies_open_in_the_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    own = {name: data for name, data in files.items() if "/_exercises/" in name}

    assert f"autodiff_kit/_exercises/{PACK}" in own
    assert {Path(name).suffix for name in own} == {".toml", ".ipynb", ".pack"}
    assert not [name for name in own if Path(name).parts[2] not in ("course.toml", "release", PACK)]
    texts = {}
    for name, data in files.items():
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            continue
        if name.endswith(".ipynb"):
            text = "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
        texts[name] = text
    whole = "\n".join(texts.values())
    assert not [name for name, text in answers().items() if text.strip() in whole]
    assert len(answers()) > 200  # there is something that could be there


@pytest.mark.gate
def test_a_learner_and_a_teacher_work_with_the_wheel_and_the_archive(
    wheel: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    here = {**os.environ, "PYTHONPATH": str(tmp_path / "site"), "ADK_HOME": str(tmp_path / "home")}

    def kit(*words: str, status: int = 0) -> str:
        command = [sys.executable, "-m", "autodiff_kit", *words]
        result = subprocess.run(
            command, cwd=tmp_path, env=here, capture_output=True, text=True, check=False
        )
        assert result.returncode == status, result.stdout + result.stderr
        return result.stdout + result.stderr

    exercise = open_course(EXERCISES).exercise(KEY)
    mutant = next(m for m in exercise.mutants if m.message == "adds_twice")
    kit("start", KEY)
    work = tmp_path / "autodiff-kit-exercises" / f"{NAME}.py"
    work.with_suffix(".ipynb").unlink()
    work.write_text(f"{exercise.solution}\n\n{mutant.code}")
    assert exercise.messages["adds_twice"][:40] in kit("check", KEY, status=1)
    work.write_text(exercise.solution)
    assert "10 of 10" in kit("check", KEY)
    place = tmp_path / "submitted" / "ada" / NAME
    place.mkdir(parents=True)
    shutil.copy(work, place)
    kit("grade", "submitted", "--allow-level", "0")
    assert "10" in kit("show", "ada")
    assert "build --teacher FILE" in kit("verify", KEY, status=1)

    assert CliRunner().invoke(cli, ["build", "--course", str(EXERCISES), "--check"]).exit_code == 0
    archive_of_teacher = tmp_path / "teacher.zip"
    run("build", "--course", str(EXERCISES), "--teacher", str(archive_of_teacher))
    with zipfile.ZipFile(archive_of_teacher) as archive:
        archive.extractall(tmp_path)
    course = ("--course", str(tmp_path / "exercises"))
    assert " ok" in kit("verify", KEY, "--seeds", "3", *course)
    assert "0 of them new or changed" in kit("build", "--check", *course)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "course.toml").write_text('title = "Mine"\nexercises = []\n')
    kit("new-exercise", "01.mine", "--perform", "--course", str(tmp_path / "mine"))
    assert "1 of them new" in kit("build", "--course", str(tmp_path / "mine"))
