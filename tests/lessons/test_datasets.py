"""The data of the lessons: whole, unchanged, and free of anything that runs when it is read."""

import gzip
import hashlib
from pathlib import Path

import numpy as np
import pytest

import autodiff_kit
from autodiff_kit.lessons import datasets
from tests.parity import require_torch

DATA = Path(datasets.__file__).with_name("data")


def test_the_file_is_the_original_one_pixel_by_pixel() -> None:
    # SHA-256 of the lines of optdigits.tes as published.
    rows = gzip.decompress((DATA / "digits.csv.gz").read_bytes())

    published = "6ebb3d2fee246a4e99363262ddf8a00a3c41bee6014c373ed9d9216ba7f651b8"
    assert hashlib.sha256(rows).hexdigest() == published


def test_there_are_as_many_of_each_digit_as_the_source_says() -> None:
    _, first, _, rest = datasets.digits()

    counts = np.bincount(np.concatenate([first, rest]))

    assert counts.tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


def test_pixels_go_from_0_to_1_and_arrays_have_the_types_that_a_loss_needs() -> None:
    x_train, y_train, x_test, y_test = datasets.digits()

    assert (x_train.min(), x_train.max(), x_test.max()) == (0.0, 1.0, 1.0)
    assert x_train.dtype == x_test.dtype == "float32"
    assert y_train.dtype == y_test.dtype == "int64"
    assert (len(x_train), len(x_test)) == (len(y_train), len(y_test)) == (1347, 450)


def test_the_first_picture_is_a_zero_with_a_hole_in_it() -> None:
    x_train, y_train, _, _ = datasets.digits()

    image = x_train[0].reshape(8, 8) * 16

    assert y_train[0] == 0
    assert image[0].tolist() == [0, 0, 5, 13, 9, 1, 0, 0]
    assert image[4, 2:6].tolist() == [8, 0, 0, 9]


def test_every_digit_is_in_both_parts_and_no_picture_in_both() -> None:
    x_train, y_train, x_test, y_test = datasets.digits()

    assert set(y_train) == set(y_test) == set(range(10))
    known = {row.tobytes() for row in x_train}
    assert not any(row.tobytes() in known for row in x_test)


def test_changing_what_was_given_changes_nothing_for_the_next_one() -> None:
    datasets.digits()[0][:] = 7

    assert datasets.digits()[0].max() == 1


def test_the_licence_and_the_source_stand_beside_the_file_which_is_small() -> None:
    words = (DATA / "README.md").read_text("utf-8")

    assert "CC BY 4.0" in words
    assert "Optical Recognition of Handwritten Digits" in words
    assert (DATA / "digits.csv.gz").stat().st_size < 150_000


def test_the_kit_takes_it_as_tensors() -> None:
    x_train, y_train, _, _ = map(autodiff_kit.tensor, datasets.digits())

    assert (x_train.dtype, y_train.dtype) == (autodiff_kit.float32, autodiff_kit.int64)


@pytest.mark.parity
def test_pytorch_takes_it_as_the_same_tensors() -> None:
    torch = require_torch()

    for array in datasets.digits():
        assert str(torch.tensor(array)) == str(autodiff_kit.tensor(array))
