"""Saving and loading: what is data comes back, what is not is refused, damage is told."""

import copy
import io
import os
import pickle
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_kit as torch
from autodiff_kit import nn


def round_trip(obj: Any) -> Any:
    file = io.BytesIO()
    torch.save(obj, file)
    file.seek(0)
    return torch.load(file)


@pytest.mark.parametrize(
    "obj",
    [
        None, True, 3, -2.5, 1e-310, 0.1, float("inf"), "text \u00e4\n", [], (), {}, (1, [2, (3,)]),
        {1: "a", "1": "b", (2, 3): None, False: 0.5}, torch.Size([2, 3]),
        OrderedDict([("z", 1), ("a", (2,))]), {"dict": [], "tensor": 0}, 10**30,
    ],
)  # fmt: skip
def test_plain_data_come_back_with_their_types(obj: Any) -> None:
    again = round_trip(obj)

    assert repr(again) == repr(obj)
    assert type(again) is type(obj)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "uint8", "bool"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 1)])
def test_tensors_come_back(dtype: str, shape: tuple[int, ...]) -> None:
    x = torch.randn(*shape, 1).reshape(shape).to(getattr(torch, dtype))

    again = round_trip(x)

    assert repr(again) == repr(x)
    assert again.numpy().tobytes() == x.numpy().tobytes()


def test_leaves_parameters_views_and_shared_tensors() -> None:
    w = nn.Parameter(torch.ones(2))
    x = torch.arange(6.0).reshape(2, 3)
    y = torch.ones(1, requires_grad=True)

    again = round_trip([w, w, x.T, y, np.float64(2.5), np.int64(3), np.bool_(True)])

    assert isinstance(again[0], nn.Parameter) and again[0] is again[1] and again[0].requires_grad
    assert torch.equal(again[2], x.T)
    assert type(again[3]) is torch.Tensor and again[3].requires_grad and again[3].is_leaf
    assert again[4:] == [2.5, 3, True]


@pytest.mark.parametrize("copied", [round_trip, copy.deepcopy])
def test_tensors_that_share_memory_share_it_afterwards(copied: Any) -> None:
    base = torch.arange(10.0)
    own = torch.zeros(2)

    again, part, columns, alone = copied([base, base[2:8:3].detach(), base.view(2, 5).t(), own])
    part.fill_(-1)
    alone.fill_(7)

    assert again.tolist() == [0, 1, -1, 3, 4, -1, 6, 7, 8, 9]
    assert columns.tolist() == [[0, -1], [1, 6], [-1, 7], [3, 8], [4, 9]]
    assert (part.stride(), columns.stride(), part.storage_offset()) == ((3,), (1, 5), 2)
    assert base.tolist() == list(range(10)) and own.tolist() == [0, 0]


def test_a_tensor_that_would_reach_beyond_its_storage_is_damage() -> None:
    file, changed = io.BytesIO(), io.BytesIO()
    torch.save([torch.ones(3)], file)
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b'"shape": [3]', b'"shape": [4]'))
    changed.seek(0)

    with pytest.raises(RuntimeError, match="damaged"):
        torch.load(changed)


def test_training_goes_on_from_a_file(tmp_path: Path) -> None:
    def step(model: Any, optimizer: Any) -> list[Any]:
        optimizer.zero_grad()
        model(torch.ones(3, 2)).pow(2).sum().backward()
        optimizer.step()
        return [p.tolist() for p in model.parameters()]

    def make() -> tuple[Any, Any]:
        model = nn.Linear(2, 2)
        return model, torch.optim.Adam(model.parameters(), lr=0.1)

    model, optimizer = make()
    step(model, optimizer)
    path = tmp_path / "checkpoint.pt"
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)
    other, resumed = make()
    checkpoint = torch.load(path, map_location="cpu", weights_only=True)
    other.load_state_dict(checkpoint["model"])
    resumed.load_state_dict(checkpoint["optimizer"])

    assert step(other, resumed) == step(model, optimizer)


@pytest.mark.parametrize("what", ["model", "optimizer", "function", "inside"])
def test_what_is_more_than_data_is_loaded_only_by_who_asks_for_it(
    what: str, tmp_path: Path
) -> None:
    model = nn.Linear(1, 1)
    things = {"model": model, "function": print, "inside": {"a": [1, model]}}
    things["optimizer"] = torch.optim.SGD(model.parameters())
    path = tmp_path / "file.pt"

    torch.save(things[what], path)

    with pytest.raises(pickle.UnpicklingError, match=r"^Weights only load failed\."):
        torch.load(path)
    assert type(torch.load(path, weights_only=False)) is type(things[what])


def test_a_whole_model_computes_as_before() -> None:
    model, file = nn.Sequential(nn.Linear(2, 2), nn.Tanh()), io.BytesIO()
    torch.save(model, file)
    file.seek(0)

    loaded = torch.load(file, weights_only=False)

    x = torch.ones(3, 2)
    assert torch.equal(loaded(x), model(x))
    assert repr(loaded) == repr(model)
    assert [p.requires_grad for p in loaded.parameters()] == [True, True]


def test_what_cannot_be_pickled_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file.pt"
    torch.save([1], path)

    with pytest.raises((pickle.PicklingError, AttributeError), match="pickle"):
        torch.save(lambda x: x, path)

    assert os.listdir(tmp_path) == ["file.pt"]
    assert torch.load(path) == [1]


def test_an_interrupted_save_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file.pt"
    torch.save("old", path)

    def fail(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "save", fail)
    with pytest.raises(KeyboardInterrupt):
        torch.save([torch.ones(3)], path)

    assert os.listdir(tmp_path) == ["file.pt"]
    assert torch.load(path) == "old"


def test_every_truncated_file_is_told() -> None:
    file = io.BytesIO()
    torch.save({"w": torch.arange(50.0), "b": [1, 2]}, file)
    whole = file.getvalue()

    for length in range(0, len(whole), 7):
        refused = RuntimeError if length > 3 else pickle.UnpicklingError if length else EOFError
        with pytest.raises(refused, match=r"damaged or was cut short|was not written by"):
            torch.load(io.BytesIO(whole[:length]))


def test_a_flipped_bit_is_told_or_does_not_matter() -> None:
    file = io.BytesIO()
    torch.save([torch.arange(50.0)], file)
    whole = file.getvalue()

    for place in range(0, len(whole), 3):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        try:
            loaded = torch.load(io.BytesIO(bytes(damaged)))
        except (RuntimeError, pickle.UnpicklingError):
            continue
        assert torch.equal(loaded[0], torch.arange(50.0))


class Bomb:
    def __reduce__(self) -> Any:
        return os.mkdir, ("exploded",)


@pytest.mark.parametrize("kind", ["pickle", "old pytorch", "text", "other archive", "empty"])
def test_foreign_files_are_refused_and_never_run(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "file.pt"
    if kind == "other archive":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("archive/data.pkl", pickle.dumps(Bomb()))
    else:
        contents = {"text": b"w = 3\n", "empty": b""}
        path.write_bytes(contents.get(kind, pickle.dumps(Bomb())))

    refused = {"text": pickle.UnpicklingError, "empty": EOFError}.get(kind, RuntimeError)
    with pytest.raises(refused, match=r"file\.pt was (not )?written by") as raised:
        torch.load(path)

    assert ("weights_only=True" in str(raised.value)) == (kind not in ("text", "empty"))
    assert not os.path.exists("exploded")


def test_arrays_with_objects_inside_are_not_unpickled(tmp_path: Path) -> None:
    file, array = io.BytesIO(), io.BytesIO()
    torch.save([torch.ones(1)], file)
    np.save(array, np.array([Bomb()], dtype=object), allow_pickle=True)
    changed = io.BytesIO()
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            new.writestr(name, array.getvalue() if name.endswith(".npy") else old.read(name))
    changed.seek(0)

    with pytest.raises(RuntimeError, match="damaged"):
        torch.load(changed)


def test_a_missing_file_is_pythons_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        torch.load(tmp_path / "none.pt")


def test_a_newer_version_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from autodiff_kit import serialization

    file = io.BytesIO()
    monkeypatch.setattr(serialization, "_VERSION", 3)
    torch.save([1], file)
    monkeypatch.undo()
    file.seek(0)

    with pytest.raises(RuntimeError, match="another version"):
        torch.load(file)


@pytest.mark.parity
def test_pytorchs_files_are_converted_as_the_message_says(tmp_path: Path) -> None:
    from tests.parity import require_torch

    theirs = require_torch()
    path, new_path = tmp_path / "theirs.pt", tmp_path / "ours.pt"
    state = theirs.nn.Linear(2, 3).state_dict()
    theirs.save(state, path)

    with pytest.raises(RuntimeError, match="was written by PyTorch") as raised:
        torch.load(path)
    program = str(raised.value).split("installed: ")[1].removesuffix(".")
    exec(program, {"path": path, "new_path": new_path})

    again = torch.load(new_path)
    assert again["weight"].tolist() == state["weight"].tolist()
    print(nn.Linear(2, 3).load_state_dict(again))
