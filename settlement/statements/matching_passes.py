"""Outside lines against our entries, in passes: key, fields, total, rule, and what is left. Pure.

Nothing is guessed: two lines that could change places are matched only where changing places would change nothing.
The same lines and entries, in any order, give the same outcome.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Literal, TypeVar

from settlement.statements.statement_values import OutsideLine, short

T = TypeVar("T")

Pass = Literal["key", "fields", "total", "rule", "cutoff"]


@dataclass(frozen=True, slots=True)
class Ours:
    """An entry of ours on the account: ``references`` are the papers and keys that stand behind its journal."""

    entry: int
    journal: str
    references: tuple[str, ...]
    code: str
    amount: int
    currency: str
    gaming_day: date
    round: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """What may differ by agreement, between two days: a fee that is theirs alone (``EXT_FEE``), or a rounding
    (``EXT_ROUNDING``) between two lines that name each other. ``most`` is minor units; ``code`` narrows a fee to a
    transaction code ("": any)."""

    id: str
    kind: Literal["EXT_FEE", "EXT_ROUNDING"]
    most: int
    first_day: date
    last_day: date | None = None
    code: str = ""

    def covers(self, day: date) -> bool:
        return self.first_day <= day and (self.last_day is None or day <= self.last_day)


@dataclass(frozen=True, slots=True)
class Match:
    """Lines and entries that say the same, and the pass that found it; ``rule`` is the id of the rule, if one did."""

    by: Pass
    theirs: tuple[int, ...]
    ours: tuple[int, ...]
    amount: int
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """Lines and entries that belong together and do not agree: a break by its code, worth ``amount``."""

    code: Literal["AMOUNT", "CURRENCY", "DUPLICATE", "CUTOFF", "EXT_FEE", "EXT_ROUNDING"]
    theirs: tuple[int, ...]
    ours: tuple[int, ...]
    amount: int
    rule: str = ""

    @property
    def cleared(self) -> bool:
        return bool(self.rule) or self.code == "CUTOFF"


@dataclass(slots=True)
class Outcome:
    """Every line and every entry is in ``matches``, in a difference that nothing clears, or pending. What a rule or the
    pair on the next day clears has its match beside it."""

    matches: list[Match] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)
    pending_theirs: tuple[int, ...] = ()
    pending_ours: tuple[int, ...] = ()


def compare(
    theirs: Iterable[OutsideLine],
    ours: Iterable[Ours],
    *,
    explained: Iterable[Ours] = (),
    rules: Sequence[Rule] = (),
) -> Outcome:
    """Match somebody's lines of one account with our entries on it.

    Lines are named by their number, entries by their id. ``explained`` are entries that have their line already: one
    that says the same again is one too many. A line that is only announced is left out: it is neither
    matched nor missing before it is booked."""
    table = _Table(
        theirs={line.number: line for line in theirs if not line.pending},
        ours={entry.entry: entry for entry in ours},
        explained={entry.entry: entry for entry in explained},
        rules=rules,
    )
    table.by_key()
    table.by_fields()
    table.by_total()
    table.by_rule()
    table.across_the_start_hour()
    table.outcome.matches.sort(key=lambda match: (match.theirs, match.ours))
    table.outcome.differences.sort(key=lambda found: (found.theirs, found.ours, found.code))
    table.outcome.pending_theirs = tuple(sorted(table.theirs))
    table.outcome.pending_ours = tuple(sorted(table.ours))
    return table.outcome


class _Table:
    """What is still unmatched on both sides; each pass takes away what it explains."""

    def __init__(
        self,
        *,
        theirs: dict[int, OutsideLine],
        ours: dict[int, Ours],
        explained: dict[int, Ours],
        rules: Sequence[Rule],
    ) -> None:
        self.theirs, self.ours, self.rules = theirs, ours, rules
        self.every = explained | ours
        self.outcome = Outcome()

    # -- passes

    def by_key(self) -> None:
        """What each transaction of a line names, the journal that it names, else the paper or key that both name."""
        self._batches()
        self._pairs(lambda line: line.journal, lambda entry: (entry.journal,))
        self._pairs(lambda line: line.reference, lambda entry: tuple(map(short, entry.references)))

    def _batches(self) -> None:
        """A line for several transactions stands for all our entries that these name."""
        batches = [number for number, line in sorted(self.theirs.items()) if line.names]
        named = _grouped(self.every, self._names) if batches else {}
        for number in batches:
            entries = sorted({id for name in self.theirs[number].names for id in named.get(name, ())})
            waiting = tuple(id for id in entries if id in self.ours)
            if waiting:
                self._same_key_in_all((number,), waiting)
            elif entries and sum(self.every[id].amount for id in entries) == self.theirs[number].amount:
                self._differ("DUPLICATE", (number,), (), self.theirs[number].amount)

    def _names(self, id: int) -> set[str]:
        entry = self.every[id]
        return {entry.journal, *map(short, entry.references)} - {""}

    def _pairs(
        self, of_line: Callable[[OutsideLine], str], of_entry: Callable[[Ours], Sequence[str]]
    ) -> None:
        lines = _grouped(self.theirs, lambda number: [of_line(self.theirs[number])])
        entries = _grouped(self.every, lambda id: of_entry(self.every[id]))
        for key in sorted(set(lines) & set(entries) - {""}):
            self._same_key([number for number in lines[key] if number in self.theirs], entries[key])

    def _same_key(self, lines: list[int], entries: list[int]) -> None:
        """One key on both sides: equal amounts first, then totals; what is left of both differs. A line that says again
        what was matched is one too many."""
        for worth in sorted({self._said(number) for number in lines}):
            here = [n for n in lines if n in self.theirs and self._said(n) == worth]
            there = [id for id in entries if id in self.ours and self._worth(id) == worth]
            for number, id in zip(here, there, strict=False):
                self._match("key", (number,), (id,))
        left = tuple(number for number in lines if number in self.theirs)
        waiting = tuple(id for id in entries if id in self.ours)
        if left and waiting:
            self._same_key_in_all(left, waiting)
            return
        known = {self._worth(id) for id in entries}
        for number in left:
            if self._said(number) in known:
                self._differ("DUPLICATE", (number,), (), self.theirs[number].amount)

    def _same_key_in_all(self, lines: tuple[int, ...], entries: tuple[int, ...]) -> None:
        total = sum(self.ours[id].amount for id in entries)
        said = sum(self.theirs[number].amount for number in lines)
        currencies = {self.theirs[number].currency for number in lines} | {
            self.ours[id].currency for id in entries
        }
        if len(currencies) > 1:
            self._differ("CURRENCY", lines, entries, total)
        elif total == said:
            self._match("key", lines, entries)
        else:
            self._amount_differs(lines, entries, said - total)

    def _amount_differs(self, lines: tuple[int, ...], entries: tuple[int, ...], by: int) -> None:
        rule = self._rule("EXT_ROUNDING", day=self.theirs[lines[0]].booked, amount=by)
        if rule is None:
            self._differ("AMOUNT", lines, entries, by)
        else:
            self.outcome.differences.append(Difference("EXT_ROUNDING", lines, entries, abs(by), rule.id))
            self._match("rule", lines, entries, rule=rule.id)

    def by_fields(self) -> None:
        """The same currency, amount, code and day: lines of one kind can change places, and nothing would change."""
        lines = _grouped(self.theirs, lambda number: [self._line(number)])
        entries = _grouped(self.ours, lambda id: [self._entry(id)])
        for key in sorted(set(lines) & set(entries)):
            for number, id in zip(lines[key], entries[key], strict=False):
                self._match("fields", (number,), (id,))

    def by_total(self) -> None:
        """One line for all our entries of a round, or of a code and day; or one entry for all their lines of a code and
        day. Only where exactly one line, or entry, has that total."""
        for ids in self._several(
            self.ours, lambda entry: (entry.round, entry.currency, entry.code, entry.gaming_day)
        ):
            if self.ours[ids[0]].round:
                self._one_line_for(ids)
        for ids in self._several(self.ours, lambda entry: (entry.currency, entry.code, entry.gaming_day)):
            self._one_line_for(ids)
        for numbers in self._several(self.theirs, lambda line: (line.currency, line.code, line.booked)):
            line = self.theirs[numbers[0]]
            total = sum(self.theirs[number].amount for number in numbers)
            found = [
                id for id in self.ours if self._entry(id) == (line.currency, total, line.code, line.booked)
            ]
            if len(found) == 1:
                self._match("total", numbers, tuple(found))

    def _one_line_for(self, ids: tuple[int, ...]) -> None:
        first = self.ours[ids[0]]
        total = sum(self.ours[id].amount for id in ids)
        wanted = (first.currency, total, first.code, first.gaming_day)
        found = [number for number in self.theirs if self._line(number) == wanted]
        if len(found) == 1:
            self._match("total", tuple(found), ids)

    @staticmethod
    def _several(items: dict[int, T], key: Callable[[T], Hashable]) -> Iterator[tuple[int, ...]]:
        """Yield those that share a key and are still there when their turn comes, where they are more than one."""
        for _, group in sorted(_grouped(items, lambda item: [key(items[item])]).items()):
            left = tuple(item for item in group if item in items)
            if len(left) > 1:
                yield left

    def by_rule(self) -> None:
        """A fee of theirs that we agreed to and did not book."""
        for number, line in sorted(self.theirs.items()):
            rule = self._rule("EXT_FEE", day=line.booked, amount=line.amount, code=line.code)
            if rule is not None and line.amount < 0:
                self.outcome.differences.append(
                    Difference("EXT_FEE", (number,), (), abs(line.amount), rule.id)
                )
                self._match("rule", (number,), (), rule=rule.id)

    def across_the_start_hour(self) -> None:
        """The right amount on the gaming day before or after: it clears with its pair."""
        for number, line in sorted(self.theirs.items()):
            beside = [
                id
                for id, entry in sorted(self.ours.items())
                if (entry.currency, entry.amount, entry.code) == (line.currency, line.amount, line.code)
                and abs(entry.gaming_day - line.booked) == timedelta(days=1)
            ]
            if len(beside) == 1:
                self.outcome.differences.append(
                    Difference("CUTOFF", (number,), (beside[0],), abs(line.amount))
                )
                self._match("cutoff", (number,), (beside[0],))

    # -- pieces

    def _line(self, number: int) -> tuple[str, int, str, date]:
        line = self.theirs[number]
        return line.currency, line.amount, line.code, line.booked

    def _entry(self, id: int) -> tuple[str, int, str, date]:
        entry = self.ours[id]
        return entry.currency, entry.amount, entry.code, entry.gaming_day

    def _said(self, number: int) -> tuple[str, int]:
        return self.theirs[number].currency, self.theirs[number].amount

    def _worth(self, id: int) -> tuple[str, int]:
        return self.every[id].currency, self.every[id].amount

    def _rule(self, kind: str, *, day: date, amount: int, code: str = "") -> Rule | None:
        fitting = (
            rule
            for rule in self.rules
            if rule.kind == kind and rule.covers(day) and abs(amount) <= rule.most and rule.code in ("", code)
        )
        return min(fitting, key=lambda rule: (rule.most, rule.id), default=None)

    def _match(self, by: Pass, lines: tuple[int, ...], entries: tuple[int, ...], *, rule: str = "") -> None:
        amount = sum(self.theirs[number].amount for number in lines)
        self.outcome.matches.append(Match(by, lines, entries, amount, rule))
        self._take(lines, entries)

    def _differ(
        self, code: Literal["AMOUNT", "CURRENCY", "DUPLICATE"], lines: tuple[int, ...],
        entries: tuple[int, ...], amount: int,
    ) -> None:  # fmt: skip
        self.outcome.differences.append(Difference(code, lines, entries, abs(amount)))
        self._take(lines, entries)

    def _take(self, lines: tuple[int, ...], entries: tuple[int, ...]) -> None:
        for number in lines:
            del self.theirs[number]
        for id in entries:
            del self.ours[id]


K = TypeVar("K", bound=Hashable)


def _grouped(items: Iterable[int], keys: Callable[[int], Iterable[K]]) -> dict[K, list[int]]:
    """Return the items, sorted, under each of their keys."""
    found: dict[K, list[int]] = defaultdict(list)
    for item in sorted(items):
        for key in keys(item):
            found[key].append(item)
    return found
