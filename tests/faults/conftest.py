"""The servers, furnished once for all cases of a process, and a house for each."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from typing import Any

import pytest

from deploy.local import paths
from tests.faults import furnishing
from tests.faults.furnishing import Furnished
from tests.faults.harness import House, Street
from tests.faults.proxy import Proxy
from tests.faults.servers import Postgres, Valkey
from tests.settlement import receiver as receivers
from tests.settlement.receiver import Receiver


@pytest.fixture(scope="session")
def furnished(django_test_environment: None, django_db_blocker: Any) -> Iterator[Furnished]:
    paths.make()
    logging.getLogger("httpx").setLevel(logging.WARNING)  # the history knows every call
    postgres, proxies = Postgres(), (Proxy(), Proxy())
    valkey = Valkey(postgres.folder)
    try:
        postgres.create()
        valkey.start()
        with django_db_blocker.unblock():
            made = furnishing.furnish(postgres=postgres, valkey=valkey, receivers=proxies)
        yield made
    finally:
        for proxy in proxies:
            proxy.close()
        valkey.stop()
        postgres.remove()


@pytest.fixture(scope="session")
def street(furnished: Furnished) -> Iterator[Street]:
    """`FAULTS_SEED` chooses who does what."""
    street = Street(furnished, seed=os.environ.get("FAULTS_SEED", "1"))
    try:
        yield street
    finally:
        street.close()


@pytest.fixture
def receiver(furnished: Furnished) -> Iterator[Receiver]:
    """A receiver that takes everything, behind every endpoint."""
    with receivers.receiving() as received:
        for proxy in furnished.receivers:
            proxy.target = received.port
        yield received


@pytest.fixture
def open_house(street: Street, receiver: Receiver) -> Iterator[House]:
    """A house at work. What a case says of it is checked at its end by ``holds``; a case that fails prints its seed
    and the last words of everybody at work."""
    house = street.house()
    yield house
    if not house.is_sound:
        print(f"the seed of this case is {house.seed}; what waits: {house.waiting()}")
        for name in house.processes:
            print(f"-- {name}\n{house.last_words(name)}")
