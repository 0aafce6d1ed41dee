"""Where the servers of a clone keep their things, and that nobody else made that place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from deploy.local import place
from deploy.local.trouble import Trouble


def test_tests_keep_their_servers_in_memory_and_a_house_keeps_its_own_on_disk() -> None:
    assert os.environ[place.IN_MEMORY] == "1"
    assert place.FOLDER.name.startswith("pokdeng-")
    assert place.CLONE not in place.FOLDER.parents


def test_a_folder_where_everybody_may_write_is_ours_or_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    placed = tmp_path / "placed"
    placed.symlink_to(theirs)
    monkeypatch.setattr(place, "FOLDER", placed)
    with pytest.raises(Trouble, match="belongs to somebody else"):
        place.make()

    monkeypatch.setattr(place, "FOLDER", tmp_path / "ours")
    place.make()
    place.make()
    assert (tmp_path / "ours").stat().st_mode & 0o777 == 0o711
