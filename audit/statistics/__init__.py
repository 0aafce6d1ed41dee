"""What play of a gaming day shows when it is counted: pure, so that the same rounds always give the same figures.

``round_sample`` is what a screen is shown of a round, ``probability`` the figures behind all of them. Each screen is a
module with a ``Tally`` that takes rounds one after the other: ``cards``, ``decks``, ``hold_bands``, ``mispays``,
``late_bets``, ``checks``, ``pace``. A statistic points, it never finds guilty: each says its sample, what that could
have shown, and how many alarms chance alone gives.
"""
