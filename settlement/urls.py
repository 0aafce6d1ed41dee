from django.urls import path

from settlement.api import books, cash, cashier, rounds, sessions, sheets

urlpatterns = [
    path("rounds/<uuid:round>", rounds.RoundDetail.as_view()),
    path("rounds/<uuid:round>/cover", rounds.RoundCover.as_view()),
    path("rounds/<uuid:round>/preview", rounds.RoundPreview.as_view()),
    path("rounds/<uuid:round>/settle", rounds.RoundSettle.as_view()),
    path("rounds/<uuid:round>/settlement", rounds.RoundSettlement.as_view()),
    path("rounds/<uuid:round>/corrections", rounds.RoundCorrections.as_view()),
    path("tables/<str:code>/rounds", rounds.TableRounds.as_view()),
    path("tables/<str:code>/sessions", sessions.TableSessions.as_view()),
    path("tables/<str:code>/sessions/close", sessions.TableClosing.as_view()),
    path("tables/<str:code>/rule-sheets", sheets.TableSheets.as_view()),
    path("tables/<str:code>/buy-ins", cashier.BuyIns.as_view()),
    path("wallets/<str:ref>", cashier.Wallet.as_view()),
    path("wallets/<str:ref>/deposits", cashier.Deposits.as_view()),
    path("wallets/<str:ref>/withdrawals", cashier.Withdrawals.as_view()),
    path("cages/<str:code>/chip-exchanges", cashier.ChipExchanges.as_view()),
    path("cash/report", cash.CashReports.as_view()),
    path("rule-sheets", sheets.RuleSheets.as_view()),
    path("rule-sheets/<uuid:sheet>/approve", sheets.RuleSheetApproval.as_view()),
    path("accounts", books.Accounts.as_view()),
    path("accounts/<str:code>", books.AccountDetail.as_view()),
    path("accounts/<str:code>/entries", books.AccountEntries.as_view()),
    path("journals/<uuid:journal>", books.JournalDetail.as_view()),
]
