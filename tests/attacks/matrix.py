"""Who may do what, written down by hand: the house's matrix row by row, and under each row the addresses that are
that act, with who is let in there. Nothing in it is derived from the service's own table of rights, which is tried
against it.

    D  at a table where on duty; elsewhere it does not exist      ✓  anywhere            r  may read
    2  anywhere, with a second person                             o  a device at its own table, a key by its scopes
    –  refused: 403 ``forbidden``
    t  through a terminal alone, where the person gives badge and PIN; by a session of their own refused

A row says what a role may do of the act at all; where an address is a part of it (issue, not pay), its own line says
which cells are left. Both have ten cells: dealer, supervisor, manager, surveillance, cashier, auditor, administrator,
cashier system, camera, terminal.
"""

from __future__ import annotations

from dataclasses import dataclass

from casino import keys
from casino.models import Role

COLUMNS = (
    Role.DEALER, Role.SUPERVISOR, Role.MANAGER, Role.SURVEILLANCE, Role.CASHIER, Role.AUDITOR, Role.ADMINISTRATOR,
    keys.ROLE, "camera", "terminal",
)  # fmt: skip

MATRIX = """
# record events, close a round; correct a read; what is signed there             D D – – – – – – o o
POST tables/<str:code>/events                                                    t t – – – – – – o o
# sign a ruling, a removed card, a waiver, a change of recorder, a void          – D ✓ – – – – – – o
POST signatures                                                                  t t t – – – – – – o
POST devices/<uuid:device>/gaps/<int:first>-<int:last>/waive                     – D ✓ – – – – – – o
POST rounds/<uuid:round>/rulings                                                 – D ✓ – – – – – – –
# void or correct a settled round without dispute                                – D 2 – – – – – – –
POST rounds/<uuid:round>/corrections                                             – D 2 – – – – – – –
# open, close a table: sign the counted float                                    D D 2 r – r – – – –
POST tables/<str:code>/sessions                                                  D D 2 – – – – – – –
POST tables/<str:code>/sessions/close                                            D D 2 – – – – – – –
# second, blind count (the first is of the row above, a drop's of its own row)   D D ✓ r ✓ r – – – o
POST tables/<str:code>/counts                                                    D D ✓ – ✓ – – – – o
DELETE tables/<str:code>/counts                                                  – D ✓ – – – – – – –
POST tables/<str:code>/counts/<uuid:count>/withdraw                              – D ✓ – – – – – – –
# fill, credit: ask / issue, void / receive (runners carry)                      D D ✓ r ✓ r – – – –
POST tables/<str:code>/fills                                                     – D ✓ – – – – – – –
POST tables/<str:code>/credits                                                   – D ✓ – – – – – – –
POST slips/<uuid:slip>/issue                                                     – – – – ✓ – – – – –
POST slips/<uuid:slip>/void                                                      – – – – ✓ – – – – –
POST slips/<uuid:slip>/dispatch                                                  ✓ ✓ – – ✓ – – – – –
POST slips/<uuid:slip>/receive                                                   D D – – ✓ – – – – –
POST slips/<uuid:slip>/deposit                                                   D D – – – – – – – –
POST slips/<uuid:slip>/compare                                                   – – ✓ – – – – – – –
GET slips                                                                        D D ✓ r ✓ r – – – –
GET slips/<uuid:slip>                                                            D D ✓ r ✓ r – – – –
# deposit, withdraw; statements in                                               – – – – 2 r – o – –
POST wallets/<str:ref>/deposits                                                  – – – – 2 – – o – –
POST wallets/<str:ref>/withdrawals                                               – – – – 2 – – o – –
GET wallets/<str:ref>                                                            – – – – ✓ r – o – –
POST outside-files                                                               – – – – ✓ – – o – –
GET outside-files/<uuid:file>                                                    – – – – ✓ r – o – –
# raise a dispute                                                                D D ✓ ✓ ✓ ✓ – – – –
POST disputes                                                                    D D ✓ ✓ ✓ ✓ – – – –
# claim, propose, decide a dispute                                               – – 2 – – ✓ – – – –
POST disputes/<uuid:dispute>/claim                                               – – – – – ✓ – – – –
POST disputes/<uuid:dispute>/renew                                               – – – – – ✓ – – – –
POST disputes/<uuid:dispute>/take-over                                           – – – – – ✓ – – – –
POST disputes/<uuid:dispute>/snooze                                              – – – – – ✓ – – – –
POST disputes/<uuid:dispute>/proposals                                           – – – – – ✓ – – – –
DELETE disputes/<uuid:dispute>/proposals                                         – – – – – ✓ – – – –
POST disputes/<uuid:dispute>/decide                                              – – 2 – – ✓ – – – –
# propose / approve a rule sheet, put it in force                                – – 2 – – r – – – –
POST rule-sheets                                                                 – – 2 – – – – – – –
POST rule-sheets/<uuid:sheet>/approve                                            – – 2 – – – – – – –
POST tables/<str:code>/rule-sheets                                               – – 2 – – – – – – –
# close a break / approve it                                                     – – ✓ r – ✓ – – – –
POST breaks/<uuid:id>/assign                                                     – – ✓ – – – – – – –
POST breaks/<uuid:id>/explain                                                    – – ✓ – – – – – – –
POST breaks/<uuid:id>/resolve                                                    – – ✓ – – – – – – –
POST breaks/<uuid:id>/approve                                                    – – – – – ✓ – – – –
POST matching-rules                                                              – – 2 – – – – – – –
GET breaks                                                                       – – ✓ r – r – – – –
GET breaks/<uuid:id>                                                             – – ✓ r – r – – – –
# rounds, cards, evidence                                                        D D ✓ ✓ ✓ ✓ – o – o
GET rounds/<uuid:round>                                                          D D ✓ ✓ – ✓ – – – o
GET tables/<str:code>/rounds                                                     D D ✓ ✓ – ✓ – – – o
GET rounds/<uuid:round>/settlement                                               D D ✓ ✓ – ✓ – o – o
GET rounds/<uuid:round>/dossier                                                  D D ✓ ✓ – ✓ – – – –
GET disputes/<uuid:dispute>/dossier                                              D D ✓ ✓ – ✓ – – – –
GET disputes                                                                     – D ✓ ✓ – ✓ – – – –
GET disputes/<uuid:dispute>                                                      – D ✓ ✓ – ✓ – – – –
GET flags                                                                        – D ✓ ✓ – ✓ – – – –
GET flags/<uuid:flag>                                                            – D ✓ ✓ – ✓ – – – –
# audit log (an administrator: security entries)                                 – D ✓ r – ✓ ✓ – – –
GET audit/entries                                                                – D ✓ r – ✓ ✓ – – –
GET audit/entries/<int:entry>/proof                                              – D ✓ r – ✓ ✓ – – –
GET audit/proof                                                                  – D ✓ r – ✓ ✓ – – –
GET audit/verified                                                               – D ✓ r – ✓ ✓ – – –
# people, roles, devices, keys, webhook targets (a manager signs as second)      – – – – – r ✓ – – –
GET people                                                                       – – – – – r ✓ – – –
GET people/<str:badge>                                                           – – – – – r ✓ – – –
POST people                                                                      – – – – – – 2 – – –
POST people/<str:badge>/appointments                                             – – – – – – 2 – – –
POST people/<str:badge>/hand-overs                                               – – – – – – 2 – – –
POST people/<str:badge>/end                                                      – – – – – – ✓ – – –
GET devices                                                                      – – – – – r ✓ – – –
POST devices                                                                     – – – – – – ✓ – – –
POST devices/<uuid:device>/revoke                                                – – – – – – ✓ – – –
GET keys                                                                         – – – – – r ✓ – – –
POST keys                                                                        – – – – – – 2 – – –
POST keys/<uuid:key>/rotate                                                      – – – – – – 2 – – –
POST keys/<uuid:key>/revoke                                                      – – – – – – ✓ – – –
GET webhooks/targets                                                             – – – – – r ✓ – – –
POST webhooks/targets                                                            – – – – – – 2 – – –
DELETE webhooks/targets/<uuid:target>                                            – – – – – – ✓ – – –
GET webhooks/endpoints                                                           – – – – – r ✓ – – –
POST webhooks/endpoints                                                          – – – – – – 2 – – –
POST webhooks/endpoints/<uuid:endpoint>/rotate                                   – – – – – – 2 – – –
POST webhooks/endpoints/<uuid:endpoint>/disable                                  – – – – – – ✓ – – –
POST webhooks/endpoints/<uuid:endpoint>/enable                                   – – – – – – 2 – – –
GET cashier-systems                                                              – – – – – r ✓ – – –
POST cashier-systems                                                             – – – – – – 2 – – –
POST cashier-systems/<str:code>/enable                                           – – – – – – 2 – – –
POST cashier-systems/<str:code>/disable                                          – – – – – – ✓ – – –
POST cashier-systems/<str:code>/rotate                                           – – – – – – 2 – – –
GET cashier-systems/mirrors                                                      – – – – – r ✓ – – –
GET external-holds                                                               – – – – – r ✓ – – –
GET external-calls                                                               – – – – – r ✓ – – –
# come on and off duty                                                           t ✓ ✓ r – r – – – o
POST tables/<str:code>/duty                                                      t ✓ ✓ – – – – – – o
# cover, preview, settle                                                         D D ✓ – – – – – – o
POST rounds/<uuid:round>/cover                                                   D D ✓ – – – – – – o
POST rounds/<uuid:round>/preview                                                 D D ✓ – – – – – – o
POST rounds/<uuid:round>/settle                                                  D D ✓ – – – – – – o
# buy-in; change                                                                 D D – r – r – – – o
POST tables/<str:code>/buy-ins                                                   D D – – – – – – – o
# sheets, sessions, duties, tables: read                                         D D ✓ ✓ – ✓ – – o o
GET tables                                                                       D D ✓ ✓ – ✓ – – o o
GET tables/<str:code>/sessions                                                   D D ✓ ✓ – ✓ – – o o
GET tables/<str:code>/duty                                                       D D ✓ ✓ – ✓ – – o o
GET tables/<str:code>/rule-sheets                                                D D ✓ ✓ – ✓ – – o o
GET rule-sheets                                                                  D D ✓ ✓ – ✓ – – o o
# mispay found                                                                   – D ✓ r – r – – – o
POST rounds/<uuid:round>/mispays                                                 – D ✓ – – – – – – –
# tables, cages: add, end; dated settings                                        – – 2 r – r 2 – – –
POST tables                                                                      – – 2 – – – – – – –
POST tables/<str:code>/end                                                       – – 2 – – – – – – –
GET cages                                                                        – – ✓ r – r – – – –
POST cages                                                                       – – 2 – – – – – – –
POST cages/<str:code>/end                                                        – – 2 – – – – – – –
POST cages/<str:code>/stock                                                      – – 2 – – – – – – –
# waive missing round numbers                                                    – D ✓ r – r – – – –
POST tables/<str:code>/rounds/<int:first>-<int:last>/waive                       – D ✓ – – – – – – –
# integrity screens                                                              – – ✓ ✓ – ✓ – – – –
GET analytics                                                                    – – ✓ ✓ – ✓ – – – –
GET analytics/<str:screen>                                                       – – ✓ ✓ – ✓ – – – –
GET analytics/decks/<uuid:round>/rounds                                          – – ✓ ✓ – ✓ – – – –
POST analytics/runs                                                              – – ✓ ✓ – ✓ – – – –
# pay slip: issue / pay                                                          – D ✓ r 2 r – o – –
POST rounds/<uuid:round>/pay-slips                                               – D ✓ – – – – – – –
POST pay-slips/<str:no>/void                                                     – D ✓ – – – – – – –
POST pay-slips/<str:no>/pay                                                      – – – – 2 – – o – –
GET pay-slips                                                                    – D ✓ r ✓ r – o – –
GET pay-slips/<str:no>                                                           – D ✓ r ✓ r – o – –
# chip exchange, cage counts                                                     – – – r ✓ r – o – –
POST cages/<str:code>/chip-exchanges                                             – – – – ✓ – – o – –
# close a shift (who served in it) / close a day / seal it                       – D 2 r ✓ 2 – – – –
POST shifts                                                                      – 2 2 – – – – – – –
POST shifts/<uuid:shift>/close                                                   – 2 2 – – – – – – –
GET shifts                                                                       – ✓ ✓ r – r – – – –
GET shifts/<uuid:shift>/report                                                   – ✓ ✓ r – r – – – –
GET shifts/<uuid:shift>/report/footer                                            – ✓ ✓ r – r – – – –
POST days/<str:day>/open                                                         – – ✓ – – – – – – –
POST days/<str:day>/close                                                        – – ✓ – – – – – – –
POST days/<str:day>/seal                                                         – – – – – 2 – – – –
POST start-hours                                                                 – – 2 – – – – – – –
POST start-hours/<uuid:start_hour>/approve                                       – – 2 – – – – – – –
GET start-hours                                                                  – – ✓ r – r – – – –
GET days                                                                         – – ✓ r – r – – – –
GET days/<str:day>                                                               – – ✓ r – r – – – –
GET days/<str:day>/report                                                        – – ✓ r – r – – – –
GET days/<str:day>/report/footer                                                 – – ✓ r – r – – – –
GET days/<str:day>/amendments                                                    – – ✓ r – r – – – –
# flag: close, turn into a dispute                                               – – – ✓ – ✓ – – – –
POST flags/<uuid:flag>/close                                                     – – – ✓ – ✓ – – – –
POST flags/<uuid:flag>/dispute                                                   – – – ✓ – ✓ – – – –
# run reconciliation, statements out, reports                                    – – ✓ r ✓ ✓ – o – –
POST reconciliations                                                             – – ✓ – – ✓ – – – –
GET reconciliations                                                              – – ✓ r – ✓ – – – –
GET reconciliations/<uuid:run>                                                   – – ✓ r – ✓ – – – –
GET accounts/<str:code>/statements                                               – – ✓ r ✓ ✓ – o – –
GET accounts/<str:code>/statements/<str:day>                                     – – ✓ r ✓ ✓ – o – –
GET cash/report                                                                  – – ✓ r ✓ ✓ – – – –
GET tables/<str:code>/rundown                                                    – – ✓ r – ✓ – – – –
# replay a delivery, unlock a badge                                              – D ✓ – – r ✓ – – –
POST people/<str:badge>/unlock                                                   – D ✓ – – – ✓ – – –
POST webhooks/endpoints/<uuid:endpoint>/replay                                   – – ✓ – – – ✓ – – –
POST webhooks/deliveries/<int:delivery>/replay                                   – – ✓ – – – ✓ – – –
POST external-calls/<uuid:call>/replay                                           – – ✓ – – – ✓ – – –
"""

BESIDE = """
# A device's own state is a device's, and a session its person's.
PUT devices/self/state                                                           – – – – – – – – o o
POST devices/self/token                                                          – – – – – – – – o o
PUT session/secrets                                                              ✓ ✓ ✓ ✓ ✓ ✓ ✓ – – –
GET session                                                                      ✓ ✓ ✓ ✓ ✓ ✓ ✓ – – –
DELETE session                                                                   ✓ ✓ ✓ ✓ ✓ ✓ ✓ – – –
# The ledger, less what a table holds for all who may not see expected figures.
GET accounts                                                                     – – ✓ – ✓ ✓ – – – –
GET accounts/<str:code>                                                          – – ✓ – ✓ ✓ – – – –
GET accounts/<str:code>/entries                                                  – – ✓ – ✓ ✓ – – – –
GET journals/<uuid:journal>                                                      – – ✓ – ✓ ✓ – – – –
# Whether the service's own work goes on is seen by those who can do something about it.
GET health                                                                       – – ✓ – – ✓ ✓ – – –
# A table is stopped by whoever may rule there.
POST tables/<str:code>/stop                                                      – D ✓ – – – – – – –
DELETE tables/<str:code>/stop                                                    – D ✓ – – – – – – –
# What was sent to an endpoint is read by whoever may send it again, and by the system whose endpoint it is.
GET webhooks/endpoints/<uuid:endpoint>                                           – – ✓ – – r ✓ o – –
GET webhooks/endpoints/<uuid:endpoint>/deliveries                                – – ✓ – – r ✓ o – –
GET webhooks/deliveries/<int:delivery>/attempts                                  – – ✓ – – r ✓ o – –
"""
"""Addresses that no row of the matrix names, each group with its reason."""

PUBLIC = frozenset(
    {
        "POST session",  # to sign in
        "POST people/take-over",  # with a code that was handed over
        "POST devices/enrolments",  # with a code of the device's own
        "GET audit/checkpoint",  # for anybody to keep
        "GET audit/consistency",
        "GET webhooks/schedule",  # for whoever receives them
    }
)


@dataclass(frozen=True)
class Line:
    """One address and method with its cells, and the cells of the row that it stands under (None beside the matrix)."""

    name: str
    cells: tuple[str, ...]
    row: tuple[str, ...] | None

    def cell(self, role: str) -> str:
        return self.cells[COLUMNS.index(role)]


def lines() -> dict[str, Line]:
    found: dict[str, Line] = {}
    for text, is_row in ((MATRIX, True), (BESIDE, False)):
        row: tuple[str, ...] | None = None
        for written in text.strip().splitlines():
            words = written.split()
            if words[0] == "#":
                row = tuple(words[-len(COLUMNS) :]) if is_row else None
                continue
            name = f"{words[0]} {words[1]}"
            assert name not in found, f"{name} stands twice"
            assert len(words) == 2 + len(COLUMNS), written
            found[name] = Line(name, tuple(words[2:]), row)
    return found
