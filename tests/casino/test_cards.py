"""The 52 cards and their spelling."""

import pytest

from casino import cards


def test_the_deck_has_every_rank_in_every_suit_once() -> None:
    texts = [cards.text(card) for card in cards.DECK]
    assert len(texts) == 52
    assert set(texts) == {rank + suit for rank in "A23456789TJQK" for suit in "CDHS"}


def test_every_card_is_read_back_from_its_spelling() -> None:
    assert [cards.parse(cards.text(card)) for card in cards.DECK] == list(cards.DECK)


def test_the_ten_of_spades_is_written_with_two_letters() -> None:
    ten = cards.parse("TS")
    assert (cards.RANKS[cards.rank(ten)], cards.SUITS[cards.suit(ten)]) == ("T", "S")


def test_the_ace_is_the_lowest_rank_and_the_king_the_highest() -> None:
    assert (cards.rank(cards.parse("AC")), cards.rank(cards.parse("KS"))) == (0, 12)
    assert (cards.parse("AC"), cards.parse("KS")) == (0, 51)


@pytest.mark.parametrize(
    "wrong", ["", "T", "1S", "10S", "ts", "Ts", "SX", "TSS", " TS", "JOKER", None, 7, ["TS"]]
)
def test_any_other_spelling_is_refused(wrong: object) -> None:
    with pytest.raises(ValueError, match="not a card"):
        cards.parse(wrong)  # type: ignore[arg-type]


def test_a_set_of_cards_is_one_number_with_a_bit_for_each() -> None:
    assert cards.mask([]) == 0
    assert cards.mask([0, 51, 51]) == (1 << 51) | 1
    assert cards.mask(cards.DECK) == (1 << 52) - 1
