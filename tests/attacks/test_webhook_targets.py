"""Webhooks sent to where they should not go: refused when they are saved, refused again when they are sent."""

from __future__ import annotations

import ipaddress
import ssl
import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from casino.platform.refusals import Refusal
from settlement.models import ApprovedTarget, Attempt, Endpoint
from settlement.webhooks import addresses, sending, targets, wire
from settlement.webhooks.addresses import TargetRefused
from tests.settlement.books import NOW, a_person, act
from tests.settlement.receiver import receiving
from tests.settlement.telling import an_approved_target, an_endpoint, at_home, delivered, owed

pytestmark = pytest.mark.django_db

FORMS = [
    "http://hooks.example/",
    "ftp://hooks.example/",
    "https://user:secret@hooks.example/",
    "https://hooks.example@10.0.0.1/",
    "https://hooks.example/#here",
    "https://hooks.example\\@10.0.0.1/",
    "https://hooks.example:0/",
    "https://hooks.example:/",
    "https://hooks.example:65536/",
    "https:///nowhere",
    "https://hooks.example/\r\nHost: other",
    "https://hooks.example/a b",
    "https://โต๊ะ.example/",
    "https://hooks_example/",
    "https://127.1/",
    "https://0x7f.1/",
    "https://0177.0.0.1/",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://127.0.0.1./",
    "https://[::1%25lo]/",
    "https://[0:0:0:0:0:0:0:1]/",
    "https://" + "a" * 500 + ".example/",
]
"""Not a target by its form, before anybody is asked where it is."""

PLACES = [
    "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1", "169.254.169.254", "0.0.0.0", "224.0.0.1",
    "255.255.255.255", "192.0.2.1", "198.18.0.1", "::1", "::", "fe80::1", "fc00::1", "ff02::1",
    "::ffff:169.254.169.254", "::ffff:127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::7f00:1", "2002:7f00:1::",
    "2001:db8::1", "2001::1", "::127.0.0.1",
]  # fmt: skip
"""Addresses that are not of the public internet, in every form a resolver may give them."""


@pytest.mark.parametrize("url", FORMS)
def test_a_url_of_another_form_is_refused(url: str) -> None:
    with pytest.raises(TargetRefused):
        addresses.parse(url, demonstration=False)
    with pytest.raises(Refusal) as refused:
        targets.look_at(url)
    assert (refused.value.code, refused.value.status) == ("target_refused", 422)


@pytest.mark.parametrize("port", [5432, 6379, 8443])
def test_a_port_that_nobody_approved_is_refused(port: int) -> None:
    an_approved_target("hooks.example", 443)
    with pytest.raises(Refusal) as refused:
        targets.look_at(f"https://hooks.example:{port}/", resolve=lambda _: ["93.184.215.14"])
    assert refused.value.code == "target_refused"
    assert targets.look_at("https://hooks.example/", resolve=lambda _: ["93.184.215.14"]).port == 443


@pytest.mark.parametrize("place", PLACES)
def test_an_address_inside_is_refused_when_it_is_saved_and_when_it_is_sent(place: str) -> None:
    """As the only address of a name, and as the second one beside a public address."""
    an_approved_target("hooks.example", 443)
    for found in ([place], ["93.184.215.14", place]):
        with pytest.raises(Refusal) as refused:
            targets.look_at("https://hooks.example/", resolve=giving(found))
        assert refused.value.code == "target_refused"
        assert sent("https://hooks.example/", resolves_to=found).result == "target_refused"


PRIVATE = ("10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1", "fc00::1")
"""Where a house may run its cage: a host there may be approved, and is open where its network is named too."""


def _approved_by_sql(host: str) -> ApprovedTarget:
    an_approved_target("hooks.example", 443)
    known = ApprovedTarget.objects.get(host="hooks.example")
    fields = {field.attname: getattr(known, field.attname) for field in ApprovedTarget._meta.fields}
    return ApprovedTarget(**fields | {"id": uuid4(), "host": host})


@pytest.mark.parametrize("host", ["localhost", "cage.localhost"])
def test_the_machine_itself_is_no_target_by_its_name_either(host: str, settings: Any) -> None:
    with pytest.raises(Refusal) as refused:
        an_approved_target(host, 443)
    assert refused.value.code == "target_refused"
    at_home(settings)
    an_approved_target(host, 443)


@pytest.mark.parametrize("place", ["127.0.0.1", "::1", "169.254.169.254", "::ffff:127.0.0.1"])
def test_a_name_that_leads_to_the_machine_itself_is_not_approved(place: str, settings: Any) -> None:
    with pytest.raises(Refusal) as refused:
        targets.look_at_host("hooks.example", resolve=lambda _: ["93.184.215.14", place])
    assert refused.value.code == "target_refused"
    targets.look_at_host("hooks.example", resolve=lambda _: ["93.184.215.14", "10.1.2.3"])
    at_home(settings)
    if place in ("127.0.0.1", "::1"):
        targets.look_at_host("hooks.example", resolve=lambda _: [place])
    else:
        with pytest.raises(Refusal):
            targets.look_at_host("hooks.example", resolve=lambda _: [place])


@pytest.mark.parametrize("place", PLACES)
def test_an_address_inside_is_refused_as_it_is_written_too(place: str) -> None:
    address = ipaddress.ip_address(place)
    url = f"https://[{address}]/" if address.version == 6 else f"https://{address}/"
    if place in PRIVATE:
        an_approved_target(str(address), 443)
    else:
        with pytest.raises(Refusal) as refused:
            an_approved_target(str(address), 443)
        assert (refused.value.code, ApprovedTarget.objects.count()) == ("target_refused", 0)
        ApprovedTarget.objects.bulk_create([_approved_by_sql(str(address))])
    with pytest.raises(Refusal) as refused:
        targets.look_at(url)
    assert refused.value.code == "target_refused"
    assert sent(url).result == "target_refused"


@pytest.mark.parametrize("place", ["8.8.8.8", "93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"])
def test_an_address_outside_is_open(place: str) -> None:
    an_approved_target("hooks.example", 443)
    assert targets.look_at("https://hooks.example/", resolve=lambda _: [place]).host == "hooks.example"


def test_only_a_network_that_two_people_named_opens_an_address_inside() -> None:
    an_approved_target("cage.example", 443, ranges=["10.20.0.0/16"])
    assert targets.look_at("https://cage.example/", resolve=lambda _: ["10.20.0.7"]).host == "cage.example"
    for place in ("10.21.0.7", "127.0.0.1", "::ffff:10.20.0.7", "64:ff9b::a14:7"):
        with pytest.raises(Refusal):
            targets.look_at("https://cage.example/", resolve=giving([place]))


@pytest.mark.parametrize(
    "network",
    ["127.0.0.0/8", "169.254.0.0/16", "0.0.0.0/0", "::/0", "224.0.0.0/4", "8.8.8.0/24", "::1/128", "no"],
)
def test_a_network_that_is_not_private_can_not_be_named(network: str) -> None:
    with pytest.raises(Refusal) as refused:
        an_approved_target("cage.example", 443, ranges=[network])
    assert refused.value.code == "target_refused"
    assert ApprovedTarget.objects.count() == 0


def test_a_name_that_nobody_knows_is_refused() -> None:
    an_approved_target("nowhere.invalid", 443)
    with pytest.raises(Refusal) as refused:
        targets.look_at("https://nowhere.invalid/")
    assert refused.value.code == "target_refused"


def test_what_sql_put_in_the_endpoints_row_is_refused_when_it_is_sent(settings: Any) -> None:
    """The row says the approved host; its URL another."""
    at_home(settings)
    with receiving() as receiver, receiving() as elsewhere:
        endpoint, _ = an_endpoint(receiver)
        Endpoint.objects.bulk_create([copied(endpoint, url=elsewhere.url)])
        Endpoint.objects.filter(pk=endpoint.pk).update(state="disabled")
        owed()
        delivered()

    assert elsewhere.requests == []
    assert list(Attempt.objects.values_list("result", flat=True)) == ["target_refused"]


def copied(endpoint: Endpoint, **other: Any) -> Endpoint:
    fields = {field.attname: getattr(endpoint, field.attname) for field in Endpoint._meta.fields}
    return Endpoint(**fields | {"id": uuid4(), "name": "copy"} | other)


def test_the_checked_address_is_the_one_that_is_asked(settings: Any, tmp_path: Path) -> None:
    """A name whose address changes between the look and the connection: it is looked up once, so what was looked at is
    what is connected to. Its name stands in TLS, and the certificate must be of that name."""
    server = certified(tmp_path, "hooks.example")
    at_home(settings, ca_file=str(tmp_path / "ca.pem"))
    asked: list[str] = []

    def resolve(host: str) -> Sequence[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["169.254.169.254"]

    with receiving(tls=server) as receiver:
        url = f"https://hooks.example:{receiver.port}/hooks"
        an_endpoint(url=url)
        owed()
        delivered(send=partial(sending.send, resolve=resolve))

    assert asked == ["hooks.example"]
    assert [request.headers["host"] for request in receiver.requests] == [f"hooks.example:{receiver.port}"]
    assert list(Attempt.objects.values_list("result", flat=True)) == ["delivered"]


def test_a_certificate_of_another_name_gets_nothing(settings: Any, tmp_path: Path) -> None:
    server = certified(tmp_path, "other.example")
    at_home(settings, ca_file=str(tmp_path / "ca.pem"))
    with receiving(tls=server) as receiver:
        an_endpoint(url=f"https://hooks.example:{receiver.port}/hooks")
        owed()
        delivered(send=partial(sending.send, resolve=lambda _: ["127.0.0.1"]))

    assert receiver.requests == []
    assert list(Attempt.objects.values_list("result", flat=True)) == ["tls_failed"]


def test_a_proxy_of_the_environment_is_not_asked(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    at_home(settings)
    with receiving() as proxy, receiving() as receiver:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        an_endpoint(receiver)
        owed()
        delivered()

    assert (len(proxy.requests), len(receiver.requests)) == (0, 1)


def test_a_redirect_inwards_is_not_followed(settings: Any) -> None:
    at_home(settings)
    with receiving() as inside, receiving("redirect") as receiver:
        inside_url = receiver.redirect_to = inside.url
        an_endpoint(receiver)
        owed()
        delivered()

    assert inside.requests == [], inside_url
    assert list(Attempt.objects.values_list("result", flat=True)) == ["http_307"]


def test_a_resolver_that_hangs_is_waited_for_no_longer_than_a_try(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "SECONDS", 0.2)
    over = threading.Event()
    try:
        answer = sent("https://hooks.example/", resolve=lambda _: [str(over.wait(30))])
    finally:
        over.set()
    assert answer.result == "timed_out"


def test_an_approval_takes_an_administrator_and_a_manager() -> None:
    admin, other = a_person("AD1", "administrator"), a_person("AD2", "administrator")
    auditor, manager = a_person("A1", "auditor"), a_person("M1", "manager")
    for by, second, code in (
        (admin, admin, "sod_violation"),
        (admin, other, "second_person_forbidden"),
        (admin, auditor, "second_person_forbidden"),
        (manager, admin, "forbidden"),
    ):
        with act(), pytest.raises(Refusal) as refused:
            targets.approve(host="hooks.example", port=443, ranges=[], by=by, approved_by=second)
        assert refused.value.code == code


def sent(
    url: str, *, resolves_to: Sequence[str] = (), resolve: addresses.Resolve | None = None
) -> sending.Answer:
    """Send a letter to an approved target, whatever was saved."""
    host = addresses.parse(url, demonstration=True).host
    letter = sending.Letter(
        delivery=1,
        number=1,
        failures=0,
        endpoint=uuid4(),
        message=uuid4(),
        body=b"{}",
        url=url,
        host=host,
        port=443,
        ranges=[],
        secrets=[],
    )
    resolve = resolve or ((lambda _: resolves_to) if resolves_to else addresses.look_up)
    return sending.send(letter, now=NOW, resolve=resolve)


def giving(found: Sequence[str]) -> addresses.Resolve:
    """A resolver that gives these addresses for any name."""
    return lambda _: found


def certified(folder: Path, name: str) -> ssl.SSLContext:
    """A server of that name, whose certificate is its own authority (``ca.pem``)."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    written = certificate.public_bytes(serialization.Encoding.PEM)
    (folder / "ca.pem").write_bytes(written)
    (folder / "both.pem").write_bytes(
        written
        + key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "both.pem")
    return context


@pytest.fixture(autouse=True)
def _fresh_trust() -> Iterator[None]:
    wire._trusted.cache_clear()
    yield
    wire._trusted.cache_clear()
