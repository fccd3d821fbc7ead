"""Attributes that are computed once."""

from __future__ import annotations

import threading

from mercer._lazy import lazy_property


class Noted:
    def __init__(self):
        self.computed = 0
        self.started, self.goes_on = threading.Event(), threading.Event()

    @lazy_property
    def answer(self):
        """What is asked for."""
        self.computed += 1
        return 42

    @lazy_property
    def slow(self):
        self.started.set()
        assert self.goes_on.wait(10)
        return 1


def test_a_lazy_property_is_computed_once_and_kept():
    noted = Noted()
    assert noted.computed == 0
    assert [noted.answer, noted.answer] == [42, 42]
    assert noted.computed == 1
    assert Noted.answer.__doc__ == "What is asked for."


def test_a_lazy_property_of_one_object_does_not_wait_for_that_of_another():
    waiting, other = Noted(), Noted()
    other.goes_on.set()
    thread = threading.Thread(target=lambda: waiting.slow)
    thread.start()
    assert waiting.started.wait(10)
    second = threading.Thread(target=lambda: other.slow, daemon=True)
    second.start()
    second.join(5)
    is_done = not second.is_alive()
    waiting.goes_on.set()
    thread.join()
    assert is_done
