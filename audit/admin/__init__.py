"""The audit trail in Django's admin: everything can be found and read, nothing can be changed.

Each model of record, ledger and log is registered here, whichever layer owns it. ``read_only`` and ``calendars`` have
what their pages share; ``casino_rows``, ``ledger_and_counts``, ``external_wallets``, ``slips``, ``outbound``,
``reconciliation``, ``log`` and ``flags_and_disputes`` say what each of them shows.
"""

from django.contrib import admin

from audit.admin import (
    casino_rows,
    days,
    external_wallets,
    flags_and_disputes,
    ledger_and_counts,
    log,
    outbound,
    reconciliation,
    slips,
)
from audit.admin.bilingual import either

__all__ = [
    "casino_rows",
    "days",
    "external_wallets",
    "flags_and_disputes",
    "ledger_and_counts",
    "log",
    "outbound",
    "reconciliation",
    "slips",
]

admin.site.site_header = admin.site.site_title = either("Pok Deng · audit trail", "ป๊อกเด้ง · ร่องรอยการตรวจสอบ")
admin.site.index_title = either("Record, money and evidence", "บันทึก เงิน และหลักฐาน")
