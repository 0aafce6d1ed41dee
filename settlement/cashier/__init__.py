"""What cages and tables do with cash: wallets, chips for cash, and what is reported of it.

Every act that takes or gives money leaves one ``CashAct`` beside its journal. Read in order: ``cash_acts``,
``wallets``, ``buy_ins``, ``chip_exchanges``, ``cash_report``, ``vaults``.
"""

from settlement.cashier.buy_ins import buy_in
from settlement.cashier.cash_acts import Cash, Taken
from settlement.cashier.chip_exchanges import exchange
from settlement.cashier.vaults import end as end_cage
from settlement.cashier.vaults import stock
from settlement.cashier.wallets import deposit, reaches, wallet_of, withdraw

__all__ = [
    "Cash",
    "Taken",
    "buy_in",
    "deposit",
    "end_cage",
    "exchange",
    "reaches",
    "stock",
    "wallet_of",
    "withdraw",
]
