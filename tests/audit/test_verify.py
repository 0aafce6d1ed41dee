"""What a stranger finds with Python alone: that an untouched dossier holds, and each row that was touched, by name."""

from __future__ import annotations

import base64
import copy
import io
import json
import random
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from audit import signed_notes, verify
from audit.verify import (
    command,
    derivation,
    ed25519,
    judgement,
    log_proofs,
    pyz,
    revisions,
    steps,
)
from audit.verify import events as events_check
from audit.verify import (
    export as reading,
)
from audit.verify import (
    signed_notes as verify_signed_notes,
)
from audit.verify.export import Failure
from settlement import settling
from tests.audit.exported import Exported, exported, member, receipted

__all__ = ["exported"]

STORIES = ("plain", "wallet", "corrected", "voided", "held", "elsewhere", "disputed")


# -- Ed25519 ---------------------------------------------------------------------------------------------------

RFC_8032 = (
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        (
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
            "d25bf5f0595bbe24655141438e7a100b"
        ),
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        (
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c"
            "387b2eaeb4302aeeb00d291612bb0c00"
        ),
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        (
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc659"
            "4a7c15e9716ed28dc027beceea1ec40a"
        ),
    ),
    (
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        (
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd"
            "454d4423643ce80e2a9ac94fa54ca49f"
        ),
        (
            "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e030"
            "3dca179c138ac17ad9bef1177331a704"
        ),
    ),
)
GROUP_ORDER = 2**252 + 27742317777372353535851937790883648493


@pytest.mark.parametrize(("public", "message", "signature"), RFC_8032)
def test_the_published_signatures_hold_and_each_changed_bit_breaks_them(
    public: str, message: str, signature: str
) -> None:
    key, said, signed = bytes.fromhex(public), bytes.fromhex(message), bytes.fromhex(signature)
    assert ed25519.is_signed(public=key, message=said, signature=signed)
    assert not ed25519.is_signed(public=key, message=said + b"\0", signature=signed)
    for place in random.Random(1).sample(range(512), 16):
        spoilt = bytearray(signed)
        spoilt[place // 8] ^= 1 << place % 8
        assert not ed25519.is_signed(public=key, message=said, signature=bytes(spoilt))


def test_it_agrees_with_the_library_that_signs() -> None:
    for seed in range(6):
        key = Ed25519PrivateKey.from_private_bytes(bytes([seed] * 32))
        message = bytes([seed]) * seed
        assert ed25519.is_signed(
            public=key.public_key().public_bytes_raw(), message=message, signature=key.sign(message)
        )


def test_a_signature_written_in_another_way_is_none() -> None:
    public, message, signature = (bytes.fromhex(part) for part in RFC_8032[1])
    scalar = int.from_bytes(signature[32:], "little")
    for other in (scalar + GROUP_ORDER, GROUP_ORDER, 2**256 - 1):
        again = signature[:32] + other.to_bytes(32, "little")
        assert not ed25519.is_signed(public=public, message=message, signature=again)
    assert not ed25519.is_signed(public=public, message=message, signature=signature[:63])
    assert not ed25519.is_signed(public=public[:31], message=message, signature=signature)


@pytest.mark.parametrize(
    "point",
    [
        (1).to_bytes(32, "little"),  # the neutral element
        (2**255 - 20).to_bytes(32, "little"),  # of order two
        bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),  # of order eight
        (2**255 - 19 + 1).to_bytes(32, "little"),  # the neutral element, y not below the prime
        (1 | 1 << 255).to_bytes(32, "little"),  # zero with a sign
        (2).to_bytes(32, "little"),  # no point of the curve has this y
    ],
)
def test_a_key_that_is_no_proper_point_has_signed_nothing(point: bytes) -> None:
    # Under a key of small order R = S·B signs everything.
    forged = (1).to_bytes(32, "little") + bytes(32)
    assert not ed25519.is_signed(public=point, message=b"anything", signature=forged)


@pytest.mark.parametrize(
    "written",
    [
        (2**255 - 19 + 3).to_bytes(32, "little"),  # three, written a second way
        (2**255 - 1).to_bytes(32, "little"),
        (2).to_bytes(32, "little"),
        (1 | 1 << 255).to_bytes(32, "little"),
    ],
)
def test_what_is_no_point_or_is_written_a_second_way_is_not_read(written: bytes) -> None:
    with pytest.raises(ed25519.BadPoint):
        ed25519._point(written)


# -- notes -----------------------------------------------------------------------------------------------------


def a_note(*, root: bytes = b"\x07" * 32, size: int = 12) -> tuple[str, str]:
    key = Ed25519PrivateKey.from_private_bytes(b"\x01" * 32)
    written = signed_notes.verifier_key("pokdeng", key.public_key().public_bytes_raw())
    return signed_notes.sign(signed_notes.Head("pokdeng", size, root), name="pokdeng", key=key), written


def test_a_note_is_read_as_the_house_reads_it() -> None:
    note, key = a_note()
    assert tuple(verify_signed_notes.signed(note, verify_signed_notes.key_of(key))) == (
        "pokdeng",
        12,
        b"\x07" * 32,
    )
    assert verify_signed_notes.key_of(key).hash == signed_notes.key_hash(
        "pokdeng", verify_signed_notes.key_of(key).public
    )


def test_each_changed_byte_of_a_note_or_a_key_is_noticed() -> None:
    note, key = a_note()
    for place in range(len(note.encode())):
        spoilt = bytearray(note.encode())
        spoilt[place] ^= 1
        with pytest.raises((verify_signed_notes.BadNote, UnicodeDecodeError)):
            verify_signed_notes.signed(bytes(spoilt).decode(), verify_signed_notes.key_of(key))
    for place in range(len(key)):
        spoilt = bytearray(key.encode())
        spoilt[place] ^= 1
        with pytest.raises((verify_signed_notes.BadNote, UnicodeDecodeError)):
            verify_signed_notes.signed(note, verify_signed_notes.key_of(bytes(spoilt).decode()))


ROOT = base64.b64encode(b"\x07" * 32).decode()


@pytest.mark.parametrize(
    "text",
    [
        f"pokdeng\n0\n{ROOT}\n",
        f"pokdeng\n012\n{ROOT}\n",
        f"pokdeng\n-1\n{ROOT}\n",
        f"pokdeng\n١٢\n{ROOT}\n",
        f"pokdeng\n12\n{ROOT}\nand more\n",
        f"\n12\n{ROOT}\n",
        "pokdeng\n12\nc2hvcnQ=\n",
        "pokdeng\n12\n",
    ],
)
def test_a_text_that_is_no_checkpoint_is_none_however_well_it_is_signed(text: str) -> None:
    key = Ed25519PrivateKey.from_private_bytes(b"\x01" * 32)
    ours = verify_signed_notes.key_of(
        signed_notes.verifier_key("pokdeng", key.public_key().public_bytes_raw())
    )
    signature = base64.b64encode(ours.hash + key.sign(text.encode())).decode()
    with pytest.raises(verify_signed_notes.BadNote):
        verify_signed_notes.signed(f"{text}\n\N{EM DASH} pokdeng {signature}\n", ours)


def test_a_key_of_another_kind_or_length_is_none() -> None:
    name, key_hash, _ = a_note()[1].split("+", 2)
    public = verify_signed_notes.key_of(a_note()[1]).public
    for decoded in (b"\x02" + public, b"\x01" + public + b"\0", public, b""):
        with pytest.raises(verify_signed_notes.BadNote):
            verify_signed_notes.key_of(f"{name}+{key_hash}+{base64.b64encode(decoded).decode()}")
    longer = verify_signed_notes.Key(name, public + b"\0")
    with pytest.raises(verify_signed_notes.BadNote):
        verify_signed_notes.key_of(
            f"{name}+{longer.hash.hex()}+{base64.b64encode(bytes([1]) + longer.public).decode()}"
        )


def test_base64_has_one_way_to_be_written() -> None:
    note, key = a_note()
    head, _, last = note.rstrip("\n").rpartition(" ")
    decoded = base64.b64decode(last)
    other = last[:-2] + chr(ord(last[-2]) + 1) + last[-1] if last.endswith("=") else last + "===="
    with pytest.raises(verify_signed_notes.BadNote):
        verify_signed_notes.signed(f"{head} {other}\n", verify_signed_notes.key_of(key))
    assert len(decoded) == 68


# -- untouched dossiers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("story", STORIES)
def test_an_untouched_dossier_holds(exported: Exported, story: str, tmp_path: Path) -> None:
    packed = tmp_path / "dossier.zip"
    packed.write_bytes(exported.zips[story])
    outcome = steps.check(reading.read(packed), keys=[exported.key])
    assert [step.id for step in outcome.steps] == ["V1", "V2", "V3", "V4", "V5"]
    assert outcome.by_reader
    assert outcome.withheld == 0
    assert reading.read(packed).with_manifest


def test_every_event_of_the_devices_is_bound_to_the_bytes_that_were_sent(exported: Exported) -> None:
    for story in STORIES:
        rows = exported.content(story)["events"]
        assert rows
        assert all(row["sent"] is not None for row in rows if row["feed"] in ("terminal", "camera"))
    assert {row["feed"] for row in exported.content("disputed")["events"]} == {
        "terminal",
        "camera",
        "decision",
    }


@pytest.mark.parametrize("badge", ["A01", "V01", "M01", "S01", "D01"])
def test_each_readers_copy_holds_as_far_as_it_was_shown(exported: Exported, badge: str) -> None:
    export = reading.of_json(member(exported.by_reader[badge], reading.JSON))
    outcome = steps.check(export, keys=[exported.key])
    assert (outcome.withheld > 0) == (badge == "D01")
    assert ("withheld" in outcome.steps[0].found) == (badge == "D01")


def test_lines_are_written_here_as_settlement_writes_them(exported: Exported) -> None:
    assert derivation.LINE_FIELDS == settling.LINE_FIELDS
    for story in STORIES:
        for revision in exported.content(story)["revisions"]:
            assert settling.lines_sha256(revision["lines"]) == reading.sha256(
                reading.canonical(revision["lines"])
            )


# -- the file that needs only Python ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder of somebody who has Python and the one file."""
    folder = tmp_path_factory.mktemp("stranger")
    (folder / "verify.pyz").write_bytes(verify.build())
    return folder


def run(stranger: Path, *arguments: str) -> tuple[int, str]:
    """Run the file with a Python that sees no installed package, no environment and no source."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "verify.pyz", *arguments],
        cwd=stranger, capture_output=True, text=True, env={}, check=False,
    )  # fmt: skip
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


def test_a_stranger_checks_a_dossier_with_python_alone(exported: Exported, stranger: Path) -> None:
    (stranger / "dossier.zip").write_bytes(exported.zips["corrected"])
    status, said = run(stranger, "dossier.zip", "--key", exported.written_key)
    assert status == 0, said
    assert said.splitlines()[-1] == "VERIFIED"
    assert [line[:2] for line in said.splitlines()[:5]] == ["V1", "V2", "V3", "V4", "V5"]


def test_without_a_key_of_ones_own_nothing_is_verified(exported: Exported, stranger: Path) -> None:
    (stranger / "dossier.json").write_bytes(exported.json("plain"))
    status, said = run(stranger, "dossier.json")
    assert status == command.NOT_BY_YOU
    assert "NOT VERIFIED BY YOU" in said
    assert not any(line.startswith("VERIFIED") for line in said.splitlines())


def test_another_key_than_the_readers_fails(exported: Exported, stranger: Path) -> None:
    (stranger / "dossier.json").write_bytes(exported.json("plain"))
    other = signed_notes.verifier_key("pokdeng", Ed25519PrivateKey.generate().public_key().public_bytes_raw())
    (stranger / "key").write_text(other)
    status, said = run(stranger, "dossier.json", "--key", "key")
    assert (status, said.splitlines()) == (1, ["FAILED V4: checkpoint: this key has not signed the note"])
    status, said = run(stranger, "dossier.json", "--key", "nonsense")
    assert (status, said.partition(":")[0]) == (1, "FAILED form")


def test_an_unpacked_folder_is_checked_as_well(exported: Exported, stranger: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(exported.zips["wallet"])) as archive:
        archive.extractall(tmp_path)
    (tmp_path / reading.PDF).write_bytes(b"not the page any more")
    assert run(stranger, str(tmp_path), "--key", exported.written_key)[0] == 0
    (tmp_path / reading.README).write_text("check nothing")
    status, said = run(stranger, str(tmp_path), "--key", exported.written_key)
    assert (status, said) == (1, "FAILED form: README.txt: is not the file that the manifest lists\n")
    (tmp_path / reading.PROGRAM).unlink()
    assert run(stranger, str(tmp_path))[1] == "FAILED form: verify.pyz: is missing\n"


def test_the_first_bad_row_is_named(exported: Exported, stranger: Path) -> None:
    content = exported.content("wallet")
    content["revisions"][0]["lines"][0][derivation.LINE_FIELDS.index("net")] += 1
    export = receipted(content)
    whole = {"content": export.content, "entry": export.entry}
    (stranger / "dossier.json").write_bytes(reading.canonical(whole))
    status, said = run(stranger, "dossier.json", "--key", exported.written_key)
    assert status == 1
    assert said.startswith("FAILED V5: revisions/1: lines_sha256 is ")


def test_what_is_no_dossier_is_refused_in_words(stranger: Path, tmp_path: Path) -> None:
    for name, data in (
        ("nothing.json", b""),
        ("text.json", b"hello"),
        ("list.json", b"[]"),
        ("deep.json", b"[" * 100_000),
        ("float.json", b'{"content":1.5}'),
        ("twice.json", b'{"content":1,"content":2}'),
        ("broken.zip", b"PK\x03\x04" + bytes(64)),
    ):
        (tmp_path / name).write_bytes(data)
        status, said = run(stranger, str(tmp_path / name))
        assert (status, said[:13]) == (1, "FAILED form: "), name
    status, said = run(stranger, str(tmp_path / "missing"))
    assert (status, said.endswith("there is no such file\n")) == (1, True)


def test_the_file_is_built_of_the_products_own_sources_and_always_the_same(tmp_path: Path) -> None:
    built = pyz.build()
    assert built == pyz.build.__wrapped__()
    with zipfile.ZipFile(io.BytesIO(built)) as archive:
        names = archive.namelist()
        for name in names[1:]:
            assert archive.read(name) == (pyz.ROOT / name).read_bytes()
    assert {
        "casino/cards.py",
        "casino/record/fold_events.py",
        "settlement/rules/payouts.py",
        "audit/merkle.py",
    } <= set(names)
    assert not [
        name for name in names if name.startswith(("casino/models", "settlement/ledger", "audit/models"))
    ]


# -- touched dossiers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spoil", "path"),
    [
        (lambda whole: whole["content"].update(more=1), "dossier.json.content"),
        (lambda whole: whole["content"].pop("held"), "dossier.json.content"),
        (lambda whole: whole.update(entry=[]), "dossier.json.entry"),
        (lambda whole: whole["content"].update(events={}), "dossier.json.content.events"),
        (lambda whole: whole["content"]["events"][0].update(seq="1"), "dossier.json.content.events.0.seq"),
        (lambda whole: whole["content"]["events"][0].update(late=0), "dossier.json.content.events.0.late"),
        (lambda whole: whole["content"]["round"].update(number=True), "dossier.json.content.round.number"),
        (lambda whole: whole["content"]["sheet"].update(name=None), "dossier.json.content.sheet.name"),
    ],
)
def test_what_has_another_form_is_named_by_its_path(
    exported: Exported, spoil: Callable[[dict[str, Any]], None], path: str
) -> None:
    whole = json.loads(exported.json("plain"))
    spoil(whole)
    with pytest.raises(Failure) as failure:
        reading.of_json(reading.canonical(whole))
    assert (failure.value.step, failure.value.row) == ("form", path)


def test_an_export_too_large_to_be_one_is_not_read(
    exported: Exported, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dossier.zip").write_bytes(exported.zips["plain"])
    (tmp_path / "dossier.json").write_bytes(exported.json("plain"))
    monkeypatch.setattr(reading, "MOST_BYTES", 5_000)
    for name in ("dossier.zip", "dossier.json"):
        with pytest.raises(Failure, match="is too large"):
            reading.read(tmp_path / name)


def is_named(failure: Failure, named: str) -> bool:
    """Whether a failure is of this step and row; a row that ends with a stroke may go on."""
    found = f"{failure.step} {failure.row}"
    return found.startswith(named) if named.endswith("/") else found == named


def flipped(data: bytes, place: int) -> bytes:
    spoilt = bytearray(data)
    spoilt[place] ^= 1
    return bytes(spoilt)


def fails(data: bytes, exported: Exported) -> bool:
    try:
        steps.check(reading.of_json(data), keys=[exported.key])
    except Failure:
        return True
    return False


def test_the_same_json_written_in_another_way_is_another_file(exported: Exported) -> None:
    whole = json.loads(exported.json("plain"))
    for data in (
        json.dumps(whole).encode(),
        exported.json("plain") + b"\n",
        json.dumps(whole, indent=1).encode(),
    ):
        with pytest.raises(Failure, match="not written in the canonical way"):
            reading.of_json(data)


def unnoticed(data: bytes, exported: Exported, places: Iterable[int]) -> list[int]:
    """The places where a flipped bit of the JSON is not found, without the manifest's help."""
    return [place for place in places if not fails(flipped(data, place), exported)]


@pytest.mark.parametrize("story", ["held", "plain", "wallet"])
def test_flipped_bytes_of_the_json_are_found_without_the_manifest(exported: Exported, story: str) -> None:
    """Drawn ones, the same each time; ``--full`` flips every byte."""
    data = exported.json(story)
    places = random.Random(story).sample(range(len(data)), 700)
    assert unnoticed(data, exported, places) == []


@pytest.mark.full
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("story", ["held", "plain", "wallet"])
def test_every_flipped_byte_of_the_json_is_found_without_the_manifest(exported: Exported, story: str) -> None:
    data = exported.json(story)
    assert unnoticed(data, exported, range(len(data))) == []


def test_every_flipped_byte_of_the_json_is_found_with_the_manifest(exported: Exported) -> None:
    packed = exported.zips["plain"]
    members = {name: member(packed, name) for name in reading.MEMBERS}
    data = members[reading.JSON]
    assert reading.manifest(members) == members[reading.MANIFEST]
    same = [
        place
        for place in range(len(data))
        if reading.manifest({reading.JSON: flipped(data, place)}) == reading.manifest({reading.JSON: data})
    ]
    assert same == []


def test_every_flipped_byte_of_the_manifest_is_found(exported: Exported, tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(exported.zips["plain"])) as archive:
        archive.extractall(tmp_path)
    manifest = (tmp_path / reading.MANIFEST).read_bytes()
    for place in range(len(manifest)):
        (tmp_path / reading.MANIFEST).write_bytes(flipped(manifest, place))
        with pytest.raises(Failure):
            reading.read(tmp_path)


Spoil = Callable[[dict[str, Any]], None]


def change(*path: Any, to: Any) -> Spoil:
    """Set what stands at a path; ``to`` may be a function of what stood there."""

    def spoil(content: dict[str, Any]) -> None:
        holder: Any = content
        for part in path[:-1]:
            holder = holder[part]
        holder[path[-1]] = to(holder[path[-1]]) if callable(to) else to

    return spoil


def more(value: int) -> int:
    return value + 1


def other_hash(value: str) -> str:
    return ("0" if value[0] != "0" else "1") + value[1:]


def in_entry(action: str, old: str, new: str) -> Spoil:
    def spoil(content: dict[str, Any]) -> None:
        entry = next(one for one in content["entries"] if f'"action":"{action}"' in one["bytes"])
        assert old in entry["bytes"]
        entry["bytes"] = entry["bytes"].replace(old, new, 1)

    return spoil


def with_its_hash(spoil: Spoil) -> Spoil:
    """The same, and the entry's hash put right."""

    def both(content: dict[str, Any]) -> None:
        from audit import merkle

        spoil(content)
        for entry in content["entries"]:
            entry["hash"] = merkle.leaf_hash(entry["bytes"].encode()).hex()

    return both


def swapped(content: dict[str, Any]) -> None:
    one, other = content["entries"][3], content["entries"][4]
    one["index"], other["index"] = other["index"], one["index"]
    content["entries"][3], content["entries"][4] = other, one


def without(part: str, place: int) -> Spoil:
    def spoil(content: dict[str, Any]) -> None:
        del content[part][place]

    return spoil


def without_entry(action: str) -> Spoil:
    def spoil(content: dict[str, Any]) -> None:
        content["entries"] = [one for one in content["entries"] if f'"action":"{action}"' not in one["bytes"]]

    return spoil


def a_card_in_step(content: dict[str, Any]) -> None:
    """Another card, and everything that follows from it put right: record, lines, journals, sentences."""
    card = next(
        row for row in content["events"] if row["kind"] == "card_dealt" and row["data"]["hand"] == "p1"
    )
    card["data"]["card"] = "KD"
    card["sent"] = None
    in_step(content)


def in_step(content: dict[str, Any]) -> None:
    """Put right whatever follows from the events in the last revision."""
    from casino import record

    rules = derivation.rules_of(content)
    for revision in content["revisions"]:
        found = derivation.record_of(content, revision)
        verdict = derivation.judged(found, rules, revision["inputs"])
        revision["record_sha256"] = reading.sha256(reading.canonical(record.to_json(found)))
        revision["lines"] = revisions.lines_of(verdict, table=content["round"]["table"])
        revision["house_net"] = verdict.house_net
        moves = revisions._expected(revision, table=content["round"]["table"])
        revision["journals"][-1]["entries"] = [
            {
                "ordinal": place,
                "account": account,
                "wager": wager,
                "amount": amount,
                "version": 1,
                "after": amount,
            }
            for place, ((account, wager), amount) in enumerate(moves.items())
        ]
        content["round"]["record"] = record.to_json(found)
    derivation.fill(content)


def another_card(content: dict[str, Any]) -> None:
    row = next(row for row in content["events"] if row["kind"] == "card_dealt")
    row["data"]["card"], row["sent"] = "2D", None


def two_amounts(content: dict[str, Any]) -> None:
    for place, by in ((0, 7), (1, -7)):
        content["revisions"][0]["journals"][0]["entries"][place]["amount"] += by


def the_first(kind: str, content: dict[str, Any]) -> dict[str, Any]:
    """The data of the first event of a kind."""
    found: dict[str, Any] = next(row for row in content["events"] if row["kind"] == kind)["data"]
    return found


NET = derivation.LINE_FIELDS.index("net")
NEVER = "2026-01-01T00:00:00.000000Z"
NOBODY = "00000000-0000-7000-8000-000000000000"
NO_FLAG: dict[str, Any] = {
    "id": NOBODY, "kind": "card_marked", "subject": "", "detail": {}, "state": "open", "raised_at": NEVER,
    "close_code": "", "dispute": None, "th": "", "en": "",
}  # fmt: skip
AS_VOIDED = in_entry("round.settled", '"outcome":"settled"', '"outcome":"voided"')

TOUCHED: tuple[tuple[str, str, Spoil, str], ...] = (
    # The log
    ("bytes of an entry", "plain", AS_VOIDED, "V1 entries/"),
    ("bytes of an entry and its hash", "plain", with_its_hash(AS_VOIDED), "V2 entries/"),
    ("an entry's hash", "plain", change("entries", 2, "hash", to=other_hash), "V1 entries/"),
    ("an entry's place", "plain", change("entries", -1, "index", to=more), "V2 entries/"),
    ("two leaves swapped", "plain", swapped, "V2 entries/"),
    ("a proof's node", "plain", change("entries", 1, "proof", 0, to=other_hash), "V2 entries/"),
    ("a proof cut", "plain", change("entries", 1, "proof", to=lambda proof: proof[:-1]), "V2 entries/"),
    ("the note's size", "plain",
     change("log", "checkpoint", to=lambda note: note.replace("\n", "\n1", 1)), "V4 checkpoint"),
    ("the signature", "plain",
     change("log", "checkpoint", to=lambda note: note[:-9] + other_hash(note[-9:])), "V4 checkpoint"),
    ("the key it names", "plain", change("log", "key", to=a_note()[1]), "V4 log.key"),
    ("an earlier note", "plain", change("log", "growth", 0, "checkpoint", to=a_note(size=3)[0]), "V4 log.growth/0"),
    ("a proof of growth", "plain", change("log", "growth", 0, "proof", 0, to=other_hash), "V3 log.growth/0"),
    # What was reported
    ("a card", "plain", lambda content: the_first("card_dealt", content).update(card="2D"), "V5 events/"),
    ("a stake", "plain", lambda content: the_first("bet_placed", content)["stake"].update(amount=1), "V5 events/"),
    ("a device's number", "plain", change("events", 1, "device_seq", to=lambda seq: seq + 500), "V5 events/"),
    ("when it happened", "plain", change("events", 1, "happened_at", to=NEVER), "V5 events/"),
    ("when it was recorded", "plain", change("events", 1, "recorded_at", to=NEVER), "V5 events/"),
    ("an event left out", "plain", without("events", 5), "V5 rounds/"),
    ("a note slipped in", "plain", lambda content: content["events"].append(
        {**content["events"][-1], "id": 10**6, "seq": 99, "kind": "note", "data": {"text": "x"}}), "V5 events/1000000"),
    ("a decision's fact", "disputed", lambda content: next(
        row for row in content["events"] if row["feed"] == "decision")["data"].update(reason="other"), "V5 events/"),
    ("who dealt", "plain", change("events", 1, "person", to=NOBODY), "V5 events/"),
    ("who signed", "corrected", change("events", -1, "signer", to=NOBODY), "V5 events/"),
    ("that it came late", "corrected", change("events", -1, "late", to=False), "V5 events/"),
    ("a card, and all that follows, in step", "plain", a_card_in_step, "V5 events/"),
    # What it was worth
    ("a line's net", "plain", change("revisions", 0, "lines", 0, NET, to=more), "V5 revisions/1"),
    ("the house's net", "plain", change("revisions", 0, "house_net", to=more), "V5 revisions/1"),
    ("what judging took from outside", "plain",
     change("revisions", 0, "inputs", "not_in_play", to=["w1"]), "V5 revisions/1"),
    ("who acted", "corrected", change("revisions", 1, "acted_by", to=None), "V5 revisions/2"),
    ("a revision and its journals", "corrected", without("revisions", 1), "V5 entries/"),
    ("an amount", "plain", change("revisions", 0, "journals", 0, "entries", 0, "amount", to=more), "V5 journals/"),
    ("two amounts that still balance", "plain", two_amounts, "V5 journals/"),
    ("a reversal removed", "corrected", lambda content: content["revisions"][1].update(
        journals=[one for one in content["revisions"][1]["journals"] if one["part"] != "reversal"]), "V5 journals/"),
    ("a journal's day", "plain", change("revisions", 0, "journals", 0, "gaming_day", to="2026-01-01"), "V5 journals/"),
    ("which settlement it was", "plain", change("revisions", 0, "id", to=NOBODY), "V5 revisions/1"),
    ("when it was settled", "plain", change("revisions", 0, "settled_at", to=NEVER), "V5 revisions/1"),
    ("an entry that stands twice", "plain", lambda content: content["entries"].insert(1, content["entries"][0]),
     "V1 entries"),
    ("a proof in capitals", "plain", change("entries", 1, "proof", 0, to=str.upper), "V2 entries/"),
    ("an entry with a space", "plain",
     with_its_hash(change("entries", 1, "bytes", to=lambda said: said.replace(":", ": ", 1))), "V1 entries/"),
    ("an entry that says nothing", "plain", with_its_hash(change("entries", 1, "bytes", to='{"action":1,"data":{}}')),
     "V1 entries/"),
    ("the hash of what was sent", "plain",
     lambda content: content["events"][1].update(sha256="0" * 64, sent=None), "V5 events/"),
    # Sheet, people, words
    ("bytes of the sheet", "plain",
     change("sheet", "canonical", to=lambda text: text.replace("500", "400", 1)), "V5 sheet/"),
    ("another sheet, with its hash", "plain", lambda content: content["sheet"].update(
        canonical="{}", sha256=reading.sha256(b"{}")), "V5 sheet/"),
    ("who was on duty", "plain", change("duties", 0, "person", to=NOBODY), "V5 duties/"),
    ("the round's standing", "plain", change("round", "standing", to="voided"), "V5 round"),
    ("the round's record", "plain", change("round", "record", "cards_seen", to=more), "V5 round"),
    ("why it is held", "held", change("round", "reasons", to=["pok_drew"]), "V5 round"),
    ("the entry that holds it", "held", without_entry("round.held"), "V5 round"),
    ("a held round's record", "held", change("round", "record", "number", to=more), "V5 round"),
    ("a sentence", "plain",
     change("revisions", 0, "said", 0, "th", to=lambda text: text.replace("1", "2")), "V5 revisions"),
    ("a rule's sentence", "plain", change("sheet", "said", 0, "en", to="Anything goes."), "V5 sheet"),
    ("a finding", "corrected", change("findings", to=[]), "V5 findings"),
    ("a flag's sentence", "corrected", change("flags", 0, "en", to="Nothing to see."), "V5 flags"),
)  # fmt: skip


BY_JUDGING: tuple[tuple[str, str, Spoil, str], ...] = (
    ("a card", "plain", lambda content: the_first("card_dealt", content).update(card="2D"), "V5 events/"),
    ("a card that nobody sent", "plain", another_card, "V5 revisions/1"),
    ("when it happened", "plain", change("events", 1, "happened_at", to=NEVER), "V5 events/"),
    ("a kind of event that does not exist", "plain",
     lambda content: content["events"][1].update(kind="gift_given", sent=None), "V5 revisions/1"),
    ("a revision's number", "corrected", change("revisions", 1, "revision", to=more), "V5 revisions/3"),
    ("the record's hash", "plain", change("revisions", 0, "record_sha256", to=other_hash), "V5 revisions/1"),
    ("the outcome", "plain", change("revisions", 0, "outcome", to="voided"), "V5 revisions/1"),
    ("a line left out", "plain", change("revisions", 0, "lines", to=lambda lines: lines[:-1]), "V5 revisions/1"),
    ("a line's net", "plain", change("revisions", 0, "lines", 0, NET, to=more), "V5 revisions/1/w1"),
    ("no line at all", "plain", change("revisions", 0, "lines", 0, to="w1"), "V5 revisions/1/w1"),
    ("the house's net", "plain", change("revisions", 0, "house_net", to=more), "V5 revisions/1"),
    ("the sheet it was judged by", "plain", change("revisions", 0, "sheet_sha256", to=other_hash), "V5 revisions/1"),
    ("a number of an entry", "plain",
     change("revisions", 0, "journals", 0, "entries", 0, "ordinal", to=more), "V5 journals/"),
    ("an amount", "plain", change("revisions", 0, "journals", 0, "entries", 0, "amount", to=more), "V5 journals/"),
    ("two amounts that still balance", "plain", two_amounts, "V5 revisions/1/w1"),
    ("a journal left out", "plain", change("revisions", 0, "journals", to=[]), "V5 revisions/1/"),
    ("a reversal left out", "corrected", change("revisions", 1, "journals", to=lambda all: all[1:]), "V5 revisions/2"),
    ("the revision of a settled round", "plain", change("revisions", to=[]), "V5 round"),
    ("the round's number", "plain", change("round", "number", to=more), "V5 round"),
    ("the round's standing", "plain", change("round", "standing", to="held"), "V5 round"),
    ("the round's record", "plain", change("round", "record", "cards_seen", to=more), "V5 round"),
    ("bytes of the sheet", "plain", change("sheet", "canonical", to="{}"), "V5 sheet/"),
    ("what is no sheet", "plain",
     lambda content: content["sheet"].update(canonical="[]", sha256=reading.sha256(b"[]")), "V5 sheet/"),
    ("a sentence", "plain", change("revisions", 0, "said", to=[]), "V5 revisions"),
    ("a flag of no known kind", "plain", lambda content: content["flags"].append(NO_FLAG), "V5 sentences"),
)  # fmt: skip
"""What judging again finds by itself, also where whoever sealed the facts had sealed false ones."""


@pytest.mark.parametrize(("what", "story", "spoil", "named"), BY_JUDGING, ids=[one[0] for one in BY_JUDGING])
def test_what_was_touched_is_named_without_the_log_as_well(
    exported: Exported, what: str, story: str, spoil: Spoil, named: str
) -> None:
    content = exported.content(story)
    for entry in content["entries"]:
        entry["bytes"] = None
    steps.check(receipted(copy.deepcopy(content)), keys=[exported.key])
    spoil(content)
    with pytest.raises(Failure) as failure:
        steps.check(receipted(content), keys=[exported.key])
    assert is_named(failure.value, named), failure.value


def test_a_held_round_is_judged_again_without_the_log_as_well(exported: Exported) -> None:
    """Where no wallet plays, what holds a round follows from its events alone."""
    content = exported.content("held")
    for entry in content["entries"]:
        entry["bytes"] = None
    for row in content["events"]:
        if row["kind"] == "bet_placed":
            row["data"]["owner"], row["sent"] = {"seat": 1}, None
    content["round"]["record"]["wagers"][0]["owner"] = {"seat": "1"}
    derivation.fill(content)
    steps.check(receipted(copy.deepcopy(content)), keys=[exported.key])
    content["round"]["reasons"] = ["missing_card", "missing_banker"]
    derivation.fill(content)
    with pytest.raises(Failure, match="judged again"):
        steps.check(receipted(content), keys=[exported.key])


def test_a_fact_that_was_sealed_twice_is_named(exported: Exported) -> None:
    content = exported.content("plain")
    entries, _ = log_proofs.entries(content)
    for check, action in (
        (events_check.are_as_sealed, "round.recorded"),
        (revisions.are_as_sealed, "round.settled"),
    ):
        check(content, entries)
        again = next(entry for entry in entries if entry.action == action)
        with pytest.raises(Failure, match="was sealed twice"):
            check(content, [*entries, again])


@pytest.mark.parametrize("elsewhere", [{}, {"player:royal-A17": "silver"}])
def test_another_keeper_of_a_wallet_than_was_settled_with_is_named(
    exported: Exported, elsewhere: dict[str, str]
) -> None:
    content = exported.content("elsewhere")
    revision = content["revisions"][0]
    rules = derivation.rules_of(content)
    revisions.check(content, revision, rules, before=[])
    revision["inputs"]["elsewhere"] = elsewhere
    with pytest.raises(Failure, match="account external:royal:PD06, judged again"):
        revisions.check(content, revision, rules, before=[])


@pytest.mark.parametrize("action", ["sheet.proposed", "sheet.approved", "sheet.put_in_force"])
def test_a_sheet_was_proposed_approved_and_put_in_force(exported: Exported, action: str) -> None:
    content = exported.content("plain")
    content["entries"] = [
        entry for entry in content["entries"] if f'"action":"{action}"' not in entry["bytes"]
    ]
    with pytest.raises(Failure) as failure:
        steps.check(receipted(content), keys=[exported.key])
    assert failure.value.row.startswith("sheet/")


def test_another_sheet_in_force_at_the_opening_is_named(exported: Exported) -> None:
    content = exported.content("plain")
    entries, _ = log_proofs.entries(content)
    later = next(entry for entry in entries if entry.action == "sheet.put_in_force")
    other = later._replace(said={**later.said, "data": {
        **later.data, "sha256": "0" * 64, "in_force_from": content["round"]["opened_at"]}})  # fmt: skip
    with pytest.raises(Failure, match="was in force when the round opened"):
        judgement.check(content, [other, *entries], log=True)


def test_the_entry_of_a_copy_has_the_hash_of_its_bytes(exported: Exported) -> None:
    whole = json.loads(exported.json("plain"))
    whole["entry"]["hash"] = other_hash(whole["entry"]["hash"])
    with pytest.raises(Failure) as failure:
        steps.check(reading.of_json(reading.canonical(whole)), keys=[exported.key])
    assert (failure.value.step, failure.value.row) == ("V1", "entry")


def test_an_export_that_names_no_key_needs_the_readers(exported: Exported) -> None:
    content = exported.content("plain")
    content["log"]["key"] = None
    steps.check(receipted(content), keys=[exported.key])
    with pytest.raises(Failure, match="names no key, and none was given"):
        steps.check(receipted(content))


def test_a_checkpoint_of_another_log_is_none_of_this_one(exported: Exported) -> None:
    key = Ed25519PrivateKey.from_private_bytes(b"\x01" * 32)
    other = signed_notes.sign(signed_notes.Head("elsewhere", 1, b"\x09" * 32), name="pokdeng", key=key)
    ours = verify_signed_notes.key_of(
        signed_notes.verifier_key("pokdeng", key.public_key().public_bytes_raw())
    )
    with pytest.raises(Failure, match="is of the log 'elsewhere'"):
        steps.check(
            reading.of_json(exported.json("plain")), keys=[exported.key, ours], kept=[("mine", other)]
        )


@pytest.mark.parametrize(
    ("what", "story", "spoil", "named"), TOUCHED, ids=[touched[0] for touched in TOUCHED]
)
def test_what_was_touched_is_named_even_under_a_new_entry(
    exported: Exported, what: str, story: str, spoil: Spoil, named: str
) -> None:
    content = exported.content(story)
    steps.check(receipted(copy.deepcopy(content)), keys=[exported.key])
    spoil(content)
    with pytest.raises(Failure) as failure:
        steps.check(receipted(content), keys=[exported.key])
    assert is_named(failure.value, named), failure.value


def test_what_no_seal_fixes_is_fixed_by_the_copys_own_entry(exported: Exported) -> None:
    whole = json.loads(exported.json("plain"))
    whole["content"]["people"][0]["name"] = "Somebody Else"
    with pytest.raises(Failure, match="is not what the house's entry of this copy fixes"):
        steps.check(reading.of_json(reading.canonical(whole)), keys=[exported.key])
    receipted_again = receipted(whole["content"])
    outcome = steps.check(receipted_again, keys=[exported.key])
    assert outcome.receipt != json.loads(exported.json("plain"))["entry"]["hash"]


def test_without_the_log_a_dealers_copy_is_judged_again_all_the_same(exported: Exported) -> None:
    content = json.loads(member(exported.by_reader["D01"], reading.JSON))["content"]
    content["revisions"][0]["journals"][0]["entries"][0]["amount"] += 5
    content["revisions"][0]["journals"][0]["entries"][1]["amount"] -= 5
    with pytest.raises(Failure) as failure:
        steps.check(receipted(content), keys=[exported.key])
    assert failure.value.row.startswith("revisions/1/w")


# -- kept checkpoints ------------------------------------------------------------------------------------------


def files(tmp_path: Path, kept: list[str]) -> list[str]:
    found = []
    for place, note in enumerate(kept):
        path = tmp_path / f"kept-{place}.note"
        path.write_text(note)
        found.append(str(path))
    return found


def test_a_kept_checkpoint_is_compared(exported: Exported, stranger: Path, tmp_path: Path) -> None:
    (stranger / "dossier.zip").write_bytes(exported.zips["plain"])
    assert len(exported.kept) >= 2
    kept = [part for path in files(tmp_path, exported.kept) for part in ("--checkpoint", path)]
    status, said = run(stranger, "dossier.zip", "--key", exported.written_key, *kept)
    assert status == 0, said
    assert all(path in said for path in kept[1::2])


def test_a_checkpoint_that_cannot_be_compared_is_no_success(exported: Exported, tmp_path: Path) -> None:
    content = exported.content("plain")
    content["log"]["growth"] = []
    export = receipted(content)
    with pytest.raises(Failure, match=r"the proof from \d+ to \d+ leaves is not here"):
        steps.check(export, keys=[exported.key], kept=[("mine", exported.kept[0])])
    proof = exported.content("plain")["log"]["growth"][0]
    old, new = (
        verify_signed_notes.read(note) for note in (proof["checkpoint"], content["log"]["checkpoint"])
    )
    answer = log_proofs.Growth(
        "pokdeng", old.size, new.size, tuple(bytes.fromhex(node) for node in proof["proof"])
    )
    kept = [("mine", proof["checkpoint"])]
    steps.check(export, keys=[exported.key], kept=kept, growth=[answer])
    with pytest.raises(Failure, match="did not only grow"):
        steps.check(
            export, keys=[exported.key], kept=kept, growth=[answer._replace(proof=answer.proof[::-1])]
        )


def test_a_tree_that_was_rewritten_and_signed_with_the_real_key_is_found_by_a_kept_checkpoint(
    exported: Exported,
) -> None:
    """The house's own key signs another history of the same size: only what was kept outside tells."""
    key = Ed25519PrivateKey.from_private_bytes(b"\x01" * 32)
    newest = verify_signed_notes.read(exported.content("plain")["log"]["checkpoint"])
    other = signed_notes.sign(
        signed_notes.Head("pokdeng", newest.size, b"\x09" * 32), name="pokdeng", key=key
    )
    ours = verify_signed_notes.key_of(
        signed_notes.verifier_key("pokdeng", key.public_key().public_bytes_raw())
    )
    with pytest.raises(Failure, match="one of the two trees was rewritten"):
        steps.check(
            reading.of_json(exported.json("plain")), keys=[exported.key, ours], kept=[("mine", other)]
        )


def test_the_houses_answer_about_growth_is_read_from_a_file(
    exported: Exported, stranger: Path, tmp_path: Path
) -> None:
    content = exported.content("plain")
    growth = content["log"]["growth"].pop(0)
    export = receipted(content)
    (stranger / "dossier.json").write_bytes(
        reading.canonical({"content": export.content, "entry": export.entry})
    )
    (mine,) = files(tmp_path, [growth["checkpoint"]])
    asked = ["dossier.json", "--key", exported.written_key, "--checkpoint", mine]
    assert run(stranger, *asked)[0] == 1
    old, new = (
        verify_signed_notes.read(note).size for note in (growth["checkpoint"], content["log"]["checkpoint"])
    )
    answer = tmp_path / "growth.json"
    answer.write_text(json.dumps({"origin": "pokdeng", "from": old, "to": new, "proof": growth["proof"]}))
    assert run(stranger, *asked, "--consistency", str(answer))[0] == 0
    answer.write_text("{}")
    assert run(stranger, *asked, "--consistency", str(answer))[0] == 1


def test_the_check_leaves_nothing_behind(exported: Exported, stranger: Path) -> None:
    for path in stranger.iterdir():
        if path.name != "verify.pyz":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    (stranger / "dossier.zip").write_bytes(exported.zips["held"])
    run(stranger, "dossier.zip")
    assert sorted(path.name for path in stranger.iterdir()) == ["dossier.zip", "verify.pyz"]
