"""Known-good answers, and where they lie."""

from pathlib import Path

FOLDER = Path(__file__).parent
NIGHT = FOLDER / "night.jsonl.gz"
NIGHT_EXPECTED = FOLDER / "night.expected.json"
SECOND = FOLDER / "second.jsonl.gz"
SECOND_EXPECTED = FOLDER / "second.expected.json"
