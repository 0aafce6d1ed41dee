"""The rule sheet as a value: every disputed point of the game is a named option.

A sheet is immutable; the sha256 of its canonical JSON names it wherever a judgement cites it. The defaults
are the game as its description tells it. A sheet that cannot be played is refused with the options that are
at odds.

Read in order: the parts, ``HouseRules``, from and to JSON, the presets; what contradicts what is in
``contradictions``.
"""

import functools
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

from settlement.rules.contradictions import (
    ContradictorySheet,
    InvalidSheet,
    refuse_contradictions,
    refuse_unusable,
)

__all__ = [
    "CHOICES", "COMMISSION_CHOICES", "MOST_HANDS", "PRESETS", "TYPE_ORDER", "Commission", "ContradictorySheet",
    "DengTable", "DrawRule", "HouseRules", "InvalidSheet", "Kind", "Requires", "Rounding", "Stakes", "as_json",
    "from_options", "parse", "stored",
]  # fmt: skip

Kind = Literal["pok", "tong", "straight_flush", "straight", "sam_lueang", "normal"]
Straights = Literal["off", "as_sam_deng", "special"]
AceInRun = Literal["low", "high", "both"]
FaceRun = Literal["sam_lueang", "straight", "straight_if_suited"]
PokMultiplier = Literal["deng", "fixed_2", "nine_3_eight_2", "one"]
TieRule = Literal["deng_difference", "push", "dealer_wins"]
TongOverSamLueang = Literal["difference", "winner_deng"]
TongAgainstTong = Literal["taem", "rank_ace_high", "rank_ace_low", "push"]
SamLueangAgainstSame = Literal["push", "by_faces"]
RunAgainstRun = Literal["taem", "top_card"]
WhoBanks = Literal["house", "player"]
Rounding = Literal["half_up", "up", "down", "half_even"]
Side = Literal["guest", "banker", "both"]
BetsOnOtherHands = Literal["allowed", "none"]
SharedHand = Literal["none", "before_dealer", "after_dealer"]
JunkHands = Literal["allowed", "none"]
JunkDraw = Literal["dealer_decides", "forced"]
DealerPok = Literal["on_turn", "at_once"]
EarlyCheck = Literal["any_hands", "three_card_hands", "none"]
FeedLead = Literal["none", "terminal", "camera"]

MOST_MONEY = 2**63 - 1
MOST_HANDS = 17
"""Three cards each for more hands than this do not fit into the deck."""


@dataclass(frozen=True, slots=True)
class DengTable:
    """What each figure multiplies the stake by, whole numbers 1 to 10. ``song`` is a pair or two of one suit,
    ``sam`` three of one suit."""

    song: int = 2
    sam: int = 3
    sam_lueang: int = 3
    straight: int = 3
    straight_flush: int = 5
    tong: int = 5


@dataclass(frozen=True, slots=True)
class Commission:
    """What the house keeps of a win: ``rate_bp`` basis points, rounded to whole ``unit``s of minor units."""

    rate_bp: int = 0
    on: Literal["net_win"] = "net_win"
    rounding: Rounding = "half_up"
    unit: int = 1
    side: Side = "guest"


@dataclass(frozen=True, slots=True)
class Stakes:
    """Limits of one wager in minor units; ``step`` divides both."""

    min: int
    max: int
    step: int


@dataclass(frozen=True, slots=True)
class DrawRule:
    """A hand of at most ``must_draw_to`` taem draws, one of at least ``must_stay_from`` stays; None: free."""

    must_draw_to: int | None = None
    must_stay_from: int | None = None


@dataclass(frozen=True, slots=True)
class Requires:
    """What has to be there before a round can settle."""

    camera: bool = False
    declared_result: bool = False


TYPE_ORDER: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class HouseRules:
    """One rule sheet, whole. Two sheets are the same sheet when their ``sha256`` is."""

    straights: Straights = "off"
    ace_in_run: AceInRun = "low"
    face_run: FaceRun = "sam_lueang"
    type_order: tuple[Kind, ...] = TYPE_ORDER
    deng: DengTable = DengTable()
    pok_multiplier: PokMultiplier = "deng"
    tie_rule: TieRule = "deng_difference"
    tong_over_sam_lueang: TongOverSamLueang = "difference"
    tong_against_tong: TongAgainstTong = "taem"
    sam_lueang_against_same: SamLueangAgainstSame = "push"
    run_against_run: RunAgainstRun = "taem"
    max_deng: int | None = None
    commission: Commission = Commission()
    banker: WhoBanks = "house"
    stakes: Stakes | None = None
    max_hands: int = MOST_HANDS
    bets_on_other_hands: BetsOnOtherHands = "allowed"
    shared_hand: SharedHand = "none"
    junk_hands: JunkHands = "allowed"
    junk_draw: JunkDraw = "dealer_decides"
    player_draw: DrawRule = DrawRule()
    dealer_draw: DrawRule = DrawRule()
    dealer_pok: DealerPok = "on_turn"
    early_check: EarlyCheck = "any_hands"
    feed_lead: FeedLead = "none"
    requires: Requires = Requires()

    def __post_init__(self) -> None:
        refuse_contradictions(self)

    @functools.cached_property
    def canonical(self) -> bytes:
        """JSON with every option written out, keys sorted, no spaces: the bytes that are hashed and kept.

        Of a stored sheet they are the bytes that were stored, whichever options there are by now.
        """
        return json.dumps(as_json(self), sort_keys=True, separators=(",", ":")).encode()

    @functools.cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.canonical).hexdigest()


CHOICES: Mapping[str, tuple[str, ...]] = {
    "straights": get_args(Straights),
    "ace_in_run": get_args(AceInRun),
    "face_run": get_args(FaceRun),
    "pok_multiplier": get_args(PokMultiplier),
    "tie_rule": get_args(TieRule),
    "tong_over_sam_lueang": get_args(TongOverSamLueang),
    "tong_against_tong": get_args(TongAgainstTong),
    "sam_lueang_against_same": get_args(SamLueangAgainstSame),
    "run_against_run": get_args(RunAgainstRun),
    "banker": get_args(WhoBanks),
    "bets_on_other_hands": get_args(BetsOnOtherHands),
    "shared_hand": get_args(SharedHand),
    "junk_hands": get_args(JunkHands),
    "junk_draw": get_args(JunkDraw),
    "dealer_pok": get_args(DealerPok),
    "early_check": get_args(EarlyCheck),
    "feed_lead": get_args(FeedLead),
}
"""Options that are a choice among names, the default first."""

COMMISSION_CHOICES: Mapping[str, tuple[str, ...]] = {
    "on": ("net_win",),
    "rounding": get_args(Rounding),
    "side": get_args(Side),
}

_PARTS = ("deng", "commission", "requires")
"""Options whose value is an object: what it leaves out keeps the value of the preset."""


# -- from and to JSON --------------------------------------------------------------------------------------


def from_options(preset: str, options: Mapping[str, Any]) -> HouseRules:
    """Return the preset with ``options`` (as JSON gives them) put in; raise InvalidSheet or
    ContradictorySheet."""
    base = PRESETS.get(preset)
    if base is None:
        raise InvalidSheet(f"no preset {preset!r}", options=("preset",))
    rules = _read(options, base=base)
    refuse_unusable(rules)
    return rules


def as_json(house: HouseRules) -> dict[str, Any]:
    """Return every option as JSON writes it: ``null`` for no cap and no limits, ``"free"`` for a free
    draw."""
    sheet = asdict(house)
    sheet["type_order"] = list(house.type_order)
    for name in ("player_draw", "dealer_draw"):
        if getattr(house, name) == DrawRule():
            sheet[name] = "free"
    return sheet


def parse(text: str | bytes) -> HouseRules:
    """Return the sheet written as one JSON object of options (those left out: the default).

    Raises InvalidSheet for anything that is no sheet, doubled names and floats included.
    """
    rules = _written(text)
    refuse_unusable(rules)
    return rules


def stored(canonical: str | bytes) -> HouseRules:
    """Return a sheet as it was agreed on: its bytes, and their hash, are those for ever.

    An option that a later release added has the meaning that this sheet had without it, which is its default. Raises
    InvalidSheet for what is no sheet.
    """
    rules = _written(canonical)
    vars(rules)["canonical"] = canonical.encode() if isinstance(canonical, str) else canonical
    return rules


def _written(text: str | bytes) -> HouseRules:
    try:
        options = json.loads(text, object_pairs_hook=_without_doubles)
    except InvalidSheet:
        raise
    except (ValueError, RecursionError) as fault:
        raise InvalidSheet(f"not JSON: {fault}", options=("sheet",)) from fault
    if not isinstance(options, dict):
        raise InvalidSheet("not an object of options", options=("sheet",))
    return _read(options, base=PRESETS["seed_base"])


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    doubled = tuple(sorted({name for name in names if names.count(name) > 1}))
    if doubled:
        raise InvalidSheet("given twice", options=doubled)
    return dict(pairs)


def _read(options: Mapping[str, Any], *, base: HouseRules) -> HouseRules:
    known = {field.name for field in fields(HouseRules)}
    unknown = tuple(sorted(str(name) for name in options if name not in known))
    if unknown:
        raise InvalidSheet("no such option", options=unknown)
    values: dict[str, Any] = {field.name: getattr(base, field.name) for field in fields(HouseRules)}
    for name, value in options.items():
        whole = {**asdict(values[name]), **value} if name in _PARTS and isinstance(value, Mapping) else value
        values[name] = _READERS[name](name, whole) if name in _READERS else _choice(name, whole)
    return HouseRules(**values)


def _choice(name: str, value: Any) -> str:
    return _one_of(name, value, CHOICES[name])


def _one_of(name: str, value: Any, names: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in names:
        raise InvalidSheet(f"{value!r} is none of {', '.join(names)}", options=(name,))
    return value


def _whole(name: str, value: Any, *, least: int, most: int | None = None) -> int:
    if type(value) is not int or value < least or (most is not None and value > most):
        limits = f"from {least}" if most is None else f"{least} to {most}"
        raise InvalidSheet(f"{value!r} is no whole number {limits}", options=(name,))
    return value


def _object(name: str, value: Any, *, parts: tuple[str, ...], optional: bool = False) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidSheet(f"{value!r} is no object", options=(name,))
    unknown = tuple(sorted(f"{name}.{part}" for part in value if part not in parts))
    if unknown:
        raise InvalidSheet("no such part", options=unknown)
    missing = tuple(f"{name}.{part}" for part in parts if part not in value)
    if missing and not optional:
        raise InvalidSheet("missing", options=missing)
    return value


def _type_order(name: str, value: Any) -> tuple[Kind, ...]:
    if not isinstance(value, list | tuple) or sorted(map(str, value)) != sorted(TYPE_ORDER):
        raise InvalidSheet("not the six types, each once", options=(name,))
    fixed = [kind for kind in value if kind not in ("sam_lueang", "straight_flush")]
    if value[0] != "pok" or value[-1] != "normal" or fixed != ["pok", "tong", "straight", "normal"]:
        raise InvalidSheet("only sam_lueang and straight_flush move, between pok and normal", options=(name,))
    return tuple(value)


def _deng(name: str, value: Any) -> DengTable:
    parts = tuple(field.name for field in fields(DengTable))
    value = _object(name, value, parts=parts)
    return DengTable(**{part: _whole(f"{name}.{part}", value[part], least=1, most=10) for part in parts})


def _commission(name: str, value: Any) -> Commission:
    value = _object(name, value, parts=tuple(field.name for field in fields(Commission)))
    chosen: dict[str, Any] = {
        part: _one_of(f"{name}.{part}", value[part], names) for part, names in COMMISSION_CHOICES.items()
    }
    return Commission(
        rate_bp=_whole(f"{name}.rate_bp", value["rate_bp"], least=0, most=10_000),
        unit=_whole(f"{name}.unit", value["unit"], least=1, most=MOST_MONEY),
        **chosen,
    )


def _max_deng(name: str, value: Any) -> int | None:
    return None if value is None or value == "none" else _whole(name, value, least=1)


def _stakes(name: str, value: Any) -> Stakes | None:
    if value is None or value == "none":
        return None
    parts = tuple(field.name for field in fields(Stakes))
    value = _object(name, value, parts=parts)
    return Stakes(**{part: _whole(f"{name}.{part}", value[part], least=1, most=MOST_MONEY) for part in parts})


def _max_hands(name: str, value: Any) -> int:
    return _whole(name, value, least=2, most=MOST_HANDS)


def _draw(name: str, value: Any) -> DrawRule:
    if value == "free":
        return DrawRule()
    value = _object(name, value, parts=("must_draw_to", "must_stay_from"), optional=True)
    draw, stay = value.get("must_draw_to"), value.get("must_stay_from")
    if draw is None and stay is None:
        raise InvalidSheet("neither must_draw_to nor must_stay_from: write free", options=(name,))
    return DrawRule(
        must_draw_to=None if draw is None else _whole(f"{name}.must_draw_to", draw, least=0, most=7),
        must_stay_from=None if stay is None else _whole(f"{name}.must_stay_from", stay, least=0, most=9),
    )


def _requires(name: str, value: Any) -> Requires:
    parts = tuple(field.name for field in fields(Requires))
    value = _object(name, value, parts=parts)
    wrong = tuple(f"{name}.{part}" for part in parts if type(value[part]) is not bool)
    if wrong:
        raise InvalidSheet("neither true nor false", options=wrong)
    return Requires(**value)


_READERS: Mapping[str, Callable[[str, Any], Any]] = {
    "type_order": _type_order,
    "deng": _deng,
    "max_deng": _max_deng,
    "commission": _commission,
    "stakes": _stakes,
    "max_hands": _max_hands,
    "player_draw": _draw,
    "dealer_draw": _draw,
    "requires": _requires,
}


# -- presets -----------------------------------------------------------------------------------------------

PRESETS: Mapping[str, HouseRules] = {
    "seed_base": HouseRules(),
    "seed_sam_deng": HouseRules(straights="as_sam_deng"),
    "seed_table": HouseRules(straights="special"),
    "thai_app": HouseRules(
        straights="special",
        ace_in_run="high",
        face_run="straight_if_suited",
        type_order=("pok", "tong", "sam_lueang", "straight_flush", "straight", "normal"),
        tong_against_tong="rank_ace_high",
        tie_rule="push",
        commission=Commission(rate_bp=500),
    ),
}
