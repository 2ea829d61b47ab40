"""A file is written whole or not at all."""

import os
from pathlib import Path

import pytest

from autodiff_kit.files import written_whole


def test_the_old_file_is_there_until_the_new_one_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "work"
    target.write_bytes(b"old")

    with written_whole(target) as file:
        file.write(b"new")
        assert target.read_bytes() == b"old"

    assert target.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["work"]


def test_an_error_on_the_way_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "work"
    target.write_bytes(b"old")

    with pytest.raises(KeyboardInterrupt), written_whole(target) as file:
        file.write(b"half")
        raise KeyboardInterrupt

    assert target.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["work"]


@pytest.mark.skipif(os.name != "posix", reason="needs symbolic links and permissions")
def test_a_link_stays_a_link_and_permissions_stay(tmp_path: Path) -> None:
    target, link = tmp_path / "work", tmp_path / "link"
    target.write_bytes(b"old")
    target.chmod(0o640)
    link.symlink_to(target)

    with written_whole(link) as file:
        file.write(b"new")

    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert target.stat().st_mode & 0o777 == 0o640
