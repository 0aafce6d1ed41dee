"""The log: one entry for each act of the house, added in the act's own transaction and never changed.

An entry is its ``bytes``. The other columns repeat what stands in them, so that an entry can be found; the
database refuses a row whose columns or hash say something else than its bytes.
"""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.postgres.indexes import BrinIndex, HashIndex
from django.db import models
from django.db.models import Func, Q


class CurrentTransaction(Func):
    """The database's number of the transaction that writes the row."""

    function = "pg_current_xact_id"
    template = "%(function)s()"

    def __init__(self) -> None:
        super().__init__(output_field=TransactionField())


class TransactionField(models.BigIntegerField):
    """A 64-bit transaction number (``xid8``): it does not wrap round, so it orders a log for good."""

    def db_type(self, connection: Any) -> str:  # noqa: ARG002
        return "xid8"

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> int | None:  # noqa: ARG002
        return None if value is None else int(value)

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:  # noqa: ARG002
        return value if value is None or hasattr(value, "resolve_expression") else str(value)


class LogEntry(models.Model):
    """One act, or for a batch of events one round it touched, as the witness saw it.

    ``bytes`` is canonical JSON and ``leaf_hash`` SHA-256(0x00 ‖ bytes), the entry's leaf in the tree to come.
    The log is ordered by (``xid``, ``id``): ``id`` alone is given before the commit, so a slow writer commits
    a lower one later. ``recorded_at`` is the act's instant; ``origin`` the log's name. ``actor`` is the
    principal's id, ``device`` the code of the terminal or camera it came through, ``person`` who acted: at a
    terminal both are set.
    """

    id = models.BigAutoField(primary_key=True)
    xid = TransactionField(db_default=CurrentTransaction(), editable=False)
    origin = models.CharField(max_length=120)
    recorded_at = models.DateTimeField()
    action = models.CharField(max_length=60)
    subject = models.CharField(max_length=200)
    table_code = models.CharField(max_length=20, blank=True)
    round = models.UUIDField(null=True)
    actor_kind = models.CharField(max_length=10)
    actor = models.CharField(max_length=40, blank=True)
    device = models.CharField(max_length=60, blank=True)
    person = models.UUIDField(null=True)
    role = models.CharField(max_length=40, blank=True)
    request_id = models.CharField(max_length=200, blank=True)
    bytes = models.BinaryField()
    leaf_hash = models.BinaryField(max_length=32)

    class Meta:
        verbose_name = "log entry"
        verbose_name_plural = "log entries"
        # Every list is read newest first along an index that ends in the id, so its cost does not grow with
        # the log. An entry without a table, round or person is in no index for these. Times follow the ids
        # closely, so a block range index finds a day in a few pages at a thousandth of the size.
        indexes: ClassVar = [
            models.Index(fields=["xid", "id"], name="log_entry_order"),
            models.Index(fields=["action", "id"], name="log_entry_by_action"),
            models.Index(fields=["subject", "id"], name="log_entry_by_subject"),
            models.Index(fields=["table_code", "id"], name="log_entry_by_table", condition=~Q(table_code="")),
            models.Index(fields=["round", "id"], name="log_entry_by_round", condition=Q(round__isnull=False)),
            models.Index(fields=["actor", "id"], name="log_entry_by_actor", condition=~Q(actor="")),
            models.Index(
                fields=["person", "id"], name="log_entry_by_person", condition=Q(person__isnull=False)
            ),
            models.Index(
                fields=["request_id", "id"], name="log_entry_by_request", condition=~Q(request_id="")
            ),
            HashIndex(fields=["leaf_hash"], name="log_entry_by_hash"),
            BrinIndex(
                fields=["recorded_at"], name="log_entry_by_time", autosummarize=True, pages_per_range=32
            ),
        ]

    def __str__(self) -> str:
        return f"{self.id} {self.action} {self.subject}"
