"""Whoever attacks a house that was played and sealed gets the one that the checks of the books are tried on."""

from tests.audit.conftest import built_house, evidence_folder, outside, played

__all__ = ["built_house", "evidence_folder", "outside", "played"]
