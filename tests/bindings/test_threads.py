"""Several threads use the types of a package for the first time."""

from __future__ import annotations

import importlib.util
import sys
from json import loads
from random import Random
from threading import Thread
from typing import Any

import pytest

from bindings import notes_protocol
from bindings.test_codec import GOOD, line


def fresh() -> Any:
    """The protocol once more, with classes that nobody used."""
    spec: Any = importlib.util.spec_from_file_location("fresh_protocol", notes_protocol.__file__)
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", range(10))
def test_first_use_by_several_threads(seed: int) -> None:
    """Text and parsed messages, in an order that differs from thread to thread."""
    protocol, found = fresh(), list[bytes]()

    def work(number: int) -> None:
        lines = [line(message) for message in GOOD[:12]]
        Random(100 * seed + number).shuffle(lines)
        for text in lines:
            found.append(
                protocol.CODEC.encode(protocol.CODEC.decode(loads(text) if number % 2 else text, sender="agent"))
            )

    threads = [Thread(target=work, args=(number,)) for number in range(8)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert len(found) == len(threads) * 12
