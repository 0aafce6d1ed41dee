"""The map in the README leads somewhere: every path exists, every question has one answer."""

from __future__ import annotations

import re

from deploy.local import paths as place

HEADING = "Where things are"


def rows(text: str) -> list[tuple[str, list[str]]]:
    """Question and paths of each row of the first table under the heading."""
    section = re.split(rf"^#+ {HEADING}\s*$", text, maxsplit=1, flags=re.MULTILINE)
    if len(section) < 2:
        return []
    lines = re.split(r"^#+ ", section[1], maxsplit=1, flags=re.MULTILINE)[0].splitlines()
    cells = [
        [cell.strip() for cell in line.strip("| \n").split("|")] for line in lines if line.startswith("|")
    ]
    return [(row[0], re.findall(r"`([^`]+)`", row[1])) for row in cells[2:] if len(row) >= 2]


def test_every_path_of_the_map_exists() -> None:
    found = rows((place.CLONE / "README.md").read_text())
    assert found, f"no table under {HEADING!r}"
    paths = [path.partition(":")[0].rstrip("/") for _, listed in found for path in listed]
    assert [path for path in paths if not (place.CLONE / path).exists()] == []


def test_every_question_of_the_map_has_one_answer() -> None:
    found = rows((place.CLONE / "README.md").read_text())
    questions = [question for question, _ in found]
    assert sorted(set(questions)) == sorted(questions)
    assert [question for question, listed in found if len(listed) != 1] == []


def test_a_row_is_read_as_question_and_path() -> None:
    text = f"## {HEADING}\n\n| q | file |\n|---|---|\n| Who pays? | `settlement/settle.py` |\n\n## Next\n| a | `b` |\n"
    assert rows(text) == [("Who pays?", ["settlement/settle.py"])]
