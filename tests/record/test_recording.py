"""A recording as a file: written whole or not at all, read whole or refused with the reason."""

import copy
import json
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import autodiff_kit as torch
from autodiff_kit.record import Recording, RecordingError, record
from autodiff_kit.view import build, still_svg, to_text
from autodiff_kit.widgets import Stepper
from tests.record.cells import run

WORK = """
def f(a):
    return (a * 2.).sum()
for i in range(2):
    h = f(x)
    h += 1
    if h > 0: h.backward()
big = torch.ones(100)
"""


@pytest.fixture
def recording() -> Recording:
    """Record every kind of event but an error: leaves, ops, a change, branches, backward."""
    return run("x = torch.tensor([1., 2.], requires_grad=True)", WORK)


@pytest.fixture
def whole(recording: Recording) -> dict[str, Any]:
    return dict(json.loads(json.dumps(recording.to_dict())))


# -- files --------------------------------------------------------------------------------------


def test_what_is_loaded_is_what_was_saved(recording: Recording, tmp_path: Path) -> None:
    recording.save(tmp_path / "run.json")

    assert Recording.load(tmp_path / "run.json").to_dict() == recording.to_dict()
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


def test_a_recording_with_an_error_and_a_note_is_read_again() -> None:
    with pytest.raises(ZeroDivisionError), record(limit=1) as rec:
        torch.ones(2) * 2
        raise ZeroDivisionError("by hand")

    again = Recording.from_dict(json.loads(json.dumps(rec.to_dict())))

    assert (again.error, again.note) == (rec.error, rec.note)


def test_a_graph_from_before_the_recording_is_read_again() -> None:
    rec = run("x = torch.ones(2, requires_grad=True)\na = x * 3", "(a * 2).sum().backward()")

    assert Recording.from_dict(json.loads(json.dumps(rec.to_dict()))).nodes == rec.nodes


@pytest.mark.skipif(os.name == "nt", reason="permissions are those of POSIX")
def test_a_saved_file_has_the_permissions_of_any_new_file(
    recording: Recording, tmp_path: Path
) -> None:
    (tmp_path / "other").touch()

    recording.save(tmp_path / "run.json")

    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("other", "run.json")]
    assert modes[0] == modes[1]


@pytest.mark.skipif(os.name == "nt", reason="permissions are those of POSIX")
def test_a_file_that_is_there_keeps_its_permissions(recording: Recording, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.touch(mode=0o600)

    recording.save(path)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_stays_a_link(recording: Recording, tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(tmp_path / "run.json")

    recording.save(tmp_path / "link.json")

    assert (tmp_path / "link.json").is_symlink()
    assert Recording.load(tmp_path / "run.json").nodes == recording.nodes


def test_an_older_file_survives_a_failed_write(
    recording: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.json"
    path.write_text("older", encoding="utf-8")

    def full(*args: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="no space left"):
        recording.save(path)

    assert [(p.name, p.read_text("utf-8")) for p in tmp_path.iterdir()] == [("run.json", "older")]


def test_what_json_cannot_hold_is_refused_before_anything_is_written(
    recording: Recording, tmp_path: Path
) -> None:
    recording.nodes[0]["params"] = {"x": object()}

    with pytest.raises(TypeError):
        recording.save(tmp_path / "run.json")

    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_not_there_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Recording.load(tmp_path / "run.json")


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[" * 100_000, b'{"a":' * 100_000, b"\xff\xfe", b"1" * 5000, b"[]", b"3", b"{}"],
    ids=["empty", "cut", "lists", "dicts", "bytes", "digits", "list", "number", "dict"],
)
def test_junk_is_refused_and_left_as_it_was(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(content)

    with pytest.raises(RecordingError, match=r"^run\.json (cannot be read as|is not) a recording"):
        Recording.load(path)

    assert path.read_bytes() == content


def test_a_file_cut_short_anywhere_is_refused(recording: Recording, tmp_path: Path) -> None:
    recording.save(tmp_path / "run.json")
    content = (tmp_path / "run.json").read_bytes()

    for length in range(1, len(content), 997):
        (tmp_path / "cut.json").write_bytes(content[:length])
        with pytest.raises(RecordingError, match="cut short"):
            Recording.load(tmp_path / "cut.json")


def test_a_newer_version_is_refused_with_what_to_do(whole: dict[str, Any]) -> None:
    with pytest.raises(RecordingError, match=r"of version 2; .* reads version 1\.\n-> Upgrade"):
        Recording.from_dict(whole | {"version": 2})


# -- damage -------------------------------------------------------------------------------------


def entries(part: Any) -> Iterator[dict[str, Any]]:
    """Yield every dict in a part of a recording."""
    if isinstance(part, dict):
        yield part
    for inner in part.values() if isinstance(part, dict) else part:
        if isinstance(inner, dict | list):
            yield from entries(inner)


def refusal(data: Any) -> str:
    with pytest.raises(RecordingError) as caught:
        Recording.from_dict(data)
    return str(caught.value)


def test_the_hand_made_damage_meets_every_kind_of_event(whole: dict[str, Any]) -> None:
    assert {event["kind"] for event in whole["events"]} == {
        *("leaf", "op", "branch", "modified", "backward", "visit"),
        *("contribution", "accumulate", "release", "finish"),
    }


@pytest.mark.parametrize("part", ["sources", "ops", "scopes", "nodes", "events"])
def test_a_part_that_is_missing_or_of_another_kind_is_named(
    part: str, whole: dict[str, Any]
) -> None:
    expected = f"this data is damaged: its part '{part}' is missing or of the wrong kind.\n"

    assert refusal({key: whole[key] for key in whole if key != part}).startswith(expected)
    for other in (None, 3, "text", {} if part != "ops" else []):
        assert refusal(whole | {part: other}).startswith(expected)


@pytest.mark.parametrize("part", ["sources", "ops", "scopes", "nodes", "events"])
def test_every_key_is_missed(part: str, whole: dict[str, Any]) -> None:
    before = copy.deepcopy(whole)
    free = [whole["ops"], *(node["params"] for node in whole["nodes"])]  # may be empty
    free += [op["rules"] for op in whole["ops"].values()]

    missed = 0
    for entry in entries(whole[part]):
        for key in list(entry):
            optional = key in ("first_line", "stats", "older", "variable", "mode")
            optional = optional or (part, key) == ("events", "scope")  # since the first version
            if not optional and not any(entry is other for other in free):
                value = entry.pop(key)
                assert "is damaged: " in refusal(whole)
                entry[key] = value
                missed += 1

    assert missed > 0
    assert whole == before  # and nothing was changed by looking


def test_a_missing_key_is_named_with_its_entry(whole: dict[str, Any]) -> None:
    del whole["nodes"][1]["value"]

    assert refusal(whole) == (
        "this data is damaged: node 1 has no 'value'.\n"
        "-> Record the run again and save it. The file is as it was."
    )


@pytest.mark.parametrize("missing", [-1, 99, 1.0, True, "0", None])
def test_an_event_that_names_a_missing_node_is_refused(missing: Any, whole: dict[str, Any]) -> None:
    for number, event in enumerate(whole["events"]):
        for key in ("node", "to"):
            if key in event:
                before, event[key] = event[key], missing
                expected = f"event {number} ({event['kind']}) has a wrong '{key}': {missing!r}"
                assert expected in refusal(whole)
                event[key] = before
        if "roots" in event:
            before, event["roots"] = event["roots"], [missing]
            assert f"event {number} (backward) has a wrong 'roots'" in refusal(whole)
            event["roots"] = before


@pytest.mark.parametrize(
    ("path", "wrong", "expected"),
    [
        ("nodes 0", None, "node 0 is None"),
        ("nodes 2 id", 3, "node 2 says that it is number 3"),
        ("nodes 2 kind", "leaf", "event 2 (op) is out of order"),
        ("nodes 2 op", None, "node 2 is of kind 'op', but its op is None"),
        ("nodes 2 op", "no such op", "node 2 has a wrong 'op': 'no such op'"),
        ("nodes 2 inputs 0 node", 2, "node 2 has an input 2, which is no earlier node"),
        ("nodes 2 scope", 99, "node 2 has a wrong 'scope': 99"),
        ("nodes 2 where 0", 5, "node 2 has a wrong 'where'"),
        ("nodes 2 where 1", 99, "node 2 has a wrong 'where'"),
        ("nodes 2 where 2", -1, "node 2 has a wrong 'where'"),
        ("nodes 2 where", [0, 1], "node 2 has a wrong 'where'"),
        ("nodes 2 value data", ["seven"], "node 2 has a wrong 'value'"),
        ("nodes 2 value data", [], "node 2 has a wrong 'value'"),
        ("nodes 2 value shape", [2], "node 2 has a wrong 'value'"),
        ("scopes 0 parent", 0, "scope 0 is not in the tree"),
        ("scopes 1 parent", None, "scope 1 is not in the tree"),
        ("scopes 1 parent", 2, "scope 1 is inside scope 2, which comes later"),
        ("scopes", [], "node 0 has a wrong 'scope'"),
        ("events 0", 7, "event 0 is of no known kind"),
        ("events 0 kind", "guess", "event 0 is of no known kind"),
        ("events 0 node", 1, "event 0 (leaf) is out of order: node 0 should come next"),
        ("events", [], "no event makes node 0"),
        ("error", "none", "its 'error' is of the wrong kind"),
        ("note", 3, "its 'note' is of the wrong kind"),
    ],
)
def test_what_is_wrong_is_said(path: str, wrong: Any, expected: str, whole: dict[str, Any]) -> None:
    *way, last = (int(key) if key.isdigit() else key for key in path.split())
    at: Any = whole
    for key in way:
        at = at[key]
    at[last] = wrong

    assert f"this data is damaged: {expected}" in refusal(whole)


def test_an_event_before_its_node_is_made_is_refused(whole: dict[str, Any]) -> None:
    visit = next(event for event in whole["events"] if event["kind"] == "visit")

    whole["events"].insert(0, visit)

    assert "event 0 (visit) names a node that comes later" in refusal(whole)


def test_an_error_event_without_an_error_is_refused(whole: dict[str, Any]) -> None:
    whole["events"].append({"kind": "error"})

    assert "is an error that nothing tells of" in refusal(whole)


@pytest.mark.parametrize("wrong", [None, -1, 99, 0.5, True, "no", [], {}], ids=repr)
def test_a_wrong_value_anywhere_is_refused_or_can_be_shown(
    wrong: Any, whole: dict[str, Any]
) -> None:
    count = 0
    for entry in list(entries(whole))[::5]:
        for key in entry:
            before, entry[key] = entry[key], wrong
            try:
                picture = build(Recording.from_dict(whole))
                picture.payload()
                to_text(picture, -1)
                count += 1
            except RecordingError:
                pass
            entry[key] = before

    assert count < 60  # such as a name that is None, or a missing formula


# -- why a recording is not complete -------------------------------------------------------------


@pytest.fixture
def cut() -> Recording:
    """Record x and x * 2 of a longer run."""
    with record(limit=2) as rec:
        x = torch.tensor(3.0, requires_grad=True)
        for _ in range(10):
            x = x * 2
    return rec


def test_the_note_of_a_recording_is_told_with_the_last_step(cut: Recording) -> None:
    note = cut.note

    assert note is not None
    captions = [frame["caption"] for frame in build(cut).payload()["frames"]]
    assert [note in caption for caption in captions] == [False, True]
    assert note in cut.to_text() and note in cut.to_text(-1) and note not in cut.to_text(0)


def test_the_note_is_in_the_widget_the_page_and_the_still(cut: Recording, tmp_path: Path) -> None:
    assert cut.note is not None

    cut.to_html(tmp_path / "run.html")
    bundle = Stepper(cut)._repr_mimebundle_()

    assert bundle is not None
    words = [(tmp_path / "run.html").read_text("utf-8"), str(cut._repr_svg_())]
    words += [data for kind, data in bundle[0].items() if kind in ("text/html", "image/svg+xml")]
    for text in words:
        plain = re.sub(r"</text><text class=\"adk-caption-line\"[^>]*>", " ", text)
        assert cut.note in plain.split("<svg")[0] + plain.split("<style>")[-1]


def test_a_recording_without_any_event_still_says_why() -> None:
    with record(limit=0) as rec:
        torch.ones(2)

    assert rec.note is not None and rec.note in rec.to_text()


def test_a_complete_recording_has_no_words_below_its_picture(recording: Recording) -> None:
    assert recording.note is None
    assert 'class="adk-caption-line"' not in still_svg(build(recording))


# -- before it is complete ----------------------------------------------------------------------


@pytest.mark.parametrize("library", ["kit", "torch"])
def test_a_recording_that_goes_on_says_so_and_can_be_shown_when_it_is_over(
    tmp_path: Path, library: str
) -> None:
    lib = torch if library == "kit" else pytest.importorskip("torch")
    x = lib.tensor(3.0, requires_grad=True)
    shows = [Recording.to_text, Recording.to_svg, build, Stepper, Recording.to_dict]
    shows += [lambda rec: rec.to_html(tmp_path / "a.html"), lambda rec: rec.save(tmp_path / "a")]

    with record(lib) as rec:
        y = x * x
        for show in shows:
            with pytest.raises(RecordingError, match="when its `with` block ends"):
                show(rec)

    assert [*tmp_path.iterdir()] == []
    for show in shows:
        show(rec)
    assert y.item() == 9.0


def test_a_block_that_an_error_ends_is_over() -> None:
    with pytest.raises(ZeroDivisionError), record() as rec:
        torch.ones(1) * (1 / 0)

    assert not rec.is_open
