"""Commission and rounding, worked through every mode. Amounts in satang."""

import pytest

from settlement.rules import commission
from settlement.rules.house_rules import Commission, Rounding


@pytest.mark.parametrize(
    ("win", "half_up", "up", "down", "half_even"),
    [
        # five per cent, chips of 100: what is owed is 50, 150, 250, 151, 149, 100
        (1_000, 100, 100, 0, 0),
        (3_000, 200, 200, 100, 200),
        (5_000, 300, 300, 200, 200),
        (3_020, 200, 200, 100, 200),
        (2_980, 100, 200, 100, 100),
        (2_000, 100, 100, 100, 100),
    ],
)
def test_each_rounding_mode_takes_whole_chips(
    win: int, half_up: int, up: int, down: int, half_even: int
) -> None:
    expected: dict[Rounding, int] = {"half_up": half_up, "up": up, "down": down, "half_even": half_even}
    taken = {
        mode: commission.commission(net=win, terms=Commission(rate_bp=500, unit=100, rounding=mode))
        for mode in expected
    }
    assert taken == expected


@pytest.mark.parametrize(
    ("win", "taken", "rounding_satang"),
    [(3_000, 0, -150), (5_000, 500, 250)],
)
def test_commission_in_chips_of_five_baht_reports_what_rounding_did(
    win: int, taken: int, rounding_satang: int
) -> None:
    """Five per cent of 3,000 is 150, nearer to no chip than to one; of 5,000 it is 250, half a chip, so
    up."""
    terms = Commission(rate_bp=500, unit=500)
    charged = commission.commission(net=win, terms=terms)
    assert (charged, commission.rounding_bp(net=win, charged=charged, terms=terms)) == (
        taken,
        rounding_satang * 10_000,
    )


def test_a_part_of_a_satang_is_reported_and_not_lost() -> None:
    """Five per cent of 333 is 16.65: 17 are charged, 0.35 of them by rounding."""
    terms = Commission(rate_bp=500)
    assert commission.commission(net=333, terms=terms) == 17
    assert commission.rounding_bp(net=333, charged=17, terms=terms) == 3_500


@pytest.mark.parametrize("net", [0, -1, -50_000])
def test_a_loss_or_a_push_owes_no_commission_and_no_rounding(net: int) -> None:
    terms = Commission(rate_bp=500, unit=100, rounding="up")
    assert (
        commission.commission(net=net, terms=terms),
        commission.rounding_bp(net=net, charged=0, terms=terms),
    ) == (
        0,
        0,
    )


def test_commission_is_never_more_than_the_win() -> None:
    """One chip of 100 would be due on a win of 40, rounded up."""
    assert commission.commission(net=40, terms=Commission(rate_bp=500, unit=100, rounding="up")) == 40
