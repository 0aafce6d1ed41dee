"""Sheets that cannot be played: what contradicts what, and bounds that nothing can ever reach.

A contradiction is refused of every sheet. An unusable bound is refused of a sheet that is proposed: one that two
people agreed on before a bound was known stays readable for ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from casino.platform.values import MOST_STAKE

if TYPE_CHECKING:
    from settlement.rules.house_rules import DrawRule, HouseRules

MOST_DENG = 10


class InvalidSheet(ValueError):
    """The sheet cannot be read: an unknown option, or a value the option does not have."""

    def __init__(self, why: str, *, options: tuple[str, ...]) -> None:
        super().__init__(f"{', '.join(options)}: {why}")
        self.options = options
        self.why = why


class ContradictorySheet(InvalidSheet):
    """Each option is possible, together they are not; ``options`` names all that take part."""


def refuse_contradictions(house: HouseRules) -> None:
    if house.tong_over_sam_lueang == "difference":
        if house.type_order.index("sam_lueang") < house.type_order.index("tong"):
            raise ContradictorySheet(
                "a sam lueang above the tong cannot lose to it by the difference of their deng",
                options=("type_order", "tong_over_sam_lueang"),
            )
        if house.deng.tong <= house.deng.sam_lueang:
            raise ContradictorySheet(
                "a tong of no more deng than a sam lueang would beat it and win nothing",
                options=("deng", "tong_over_sam_lueang"),
            )
    if house.commission.side != "guest" and house.banker != "player":
        raise ContradictorySheet("no player banks who could pay it", options=("commission", "banker"))
    for name in ("player_draw", "dealer_draw"):
        rule: DrawRule = getattr(house, name)
        draw, stay = rule.must_draw_to, rule.must_stay_from
        if draw is not None and stay is not None and stay <= draw:
            raise ContradictorySheet(
                f"a hand of {stay} taem would have to draw and to stay",
                options=(f"{name}.must_draw_to", f"{name}.must_stay_from"),
            )
    if house.stakes is not None:
        if house.stakes.min > house.stakes.max:
            raise ContradictorySheet("no stake is allowed", options=("stakes.min", "stakes.max"))
        if house.stakes.min % house.stakes.step or house.stakes.max % house.stakes.step:
            raise ContradictorySheet(
                "a limit that is no whole number of steps",
                options=("stakes.min", "stakes.max", "stakes.step"),
            )


def refuse_unusable(house: HouseRules) -> None:
    """Raise InvalidSheet for the first bound that no stake, no win and no hand can meet."""
    bounds: list[tuple[str, int | None, int, str]] = [
        ("commission.unit", house.commission.unit, MOST_STAKE, "more than any stake"),
        ("max_deng", house.max_deng, MOST_DENG, "no wager ever moves so many stakes"),
    ]
    if house.stakes is not None:
        bounds += [
            (f"stakes.{part}", getattr(house.stakes, part), MOST_STAKE, "more than any stake")
            for part in ("min", "max", "step")
        ]
    for name in ("player_draw", "dealer_draw"):
        rule: DrawRule = getattr(house, name)
        bounds.append((f"{name}.must_stay_from", rule.must_stay_from, 8, "a pok never draws"))
    for option, value, most, why in bounds:
        if value is not None and value > most:
            raise InvalidSheet(f"{value} is above {most}: {why}", options=(option,))
