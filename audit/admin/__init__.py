"""The audit trail in Django's admin: everything can be found and read, nothing can be changed.

Each model of record, ledger and log is registered here, whichever layer owns it. ``lists`` and ``calendars`` have what
their pages share; ``floor``, ``money``, ``elsewhere``, ``papers``, ``outbox``, ``comparing``, ``trail`` and
``questions`` say what each of them shows.
"""

from django.contrib import admin

from audit.admin import comparing, days, elsewhere, floor, money, outbox, papers, questions, trail
from audit.admin.words import either

__all__ = ["comparing", "days", "elsewhere", "floor", "money", "outbox", "papers", "questions", "trail"]

admin.site.site_header = admin.site.site_title = either("Pok Deng · audit trail", "ป๊อกเด้ง · ร่องรอยการตรวจสอบ")
admin.site.index_title = either("Record, money and evidence", "บันทึก เงิน และหลักฐาน")
