"""Where the servers of a clone keep their things, and that nobody else made that place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from deploy.local import paths
from deploy.local.start_errors import Trouble


def test_tests_keep_their_servers_in_memory_and_a_house_keeps_its_own_on_disk() -> None:
    assert os.environ[paths.IN_MEMORY] == "1"
    assert paths.FOLDER.name.startswith("pokdeng-")
    assert paths.CLONE not in paths.FOLDER.parents


def test_a_folder_where_everybody_may_write_is_ours_or_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    placed = tmp_path / "placed"
    placed.symlink_to(theirs)
    monkeypatch.setattr(paths, "FOLDER", placed)
    with pytest.raises(Trouble, match="belongs to somebody else"):
        paths.make()

    monkeypatch.setattr(paths, "FOLDER", tmp_path / "ours")
    paths.make()
    paths.make()
    assert (tmp_path / "ours").stat().st_mode & 0o777 == 0o711


def test_without_room_in_memory_a_temporary_folder_serves_and_stays_the_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dev/shm").mkdir(parents=True)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(
        paths, "_named_for_the_clone", lambda folder: tmp_path / folder.strip("/") / "pokdeng-1"
    )
    monkeypatch.setattr(paths.tempfile, "gettempdir", lambda: "/tmp")
    chosen = paths._in_memory

    monkeypatch.setattr(paths, "ROOM_BYTES", 0)
    assert chosen() == tmp_path / "dev/shm/pokdeng-1"
    monkeypatch.setattr(paths, "ROOM_BYTES", 1 << 62)
    assert chosen() == tmp_path / "tmp/pokdeng-1"
    (tmp_path / "tmp/pokdeng-1").mkdir()
    monkeypatch.setattr(paths, "ROOM_BYTES", 0)
    assert chosen() == tmp_path / "tmp/pokdeng-1", "processes of one run agree while room comes and goes"
