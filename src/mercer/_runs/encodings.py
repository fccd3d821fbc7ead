"""In which encoding a text is, as far as its bytes can tell."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import IO

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BLOCK = 1 << 20
_HEAD = 4096
_NOT_IN_WINDOWS = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
_MOSTLY = 0.7  # of the bytes on one side of UTF-16 are 0 in most writing of Europe


def encoding_of(raw: IO[bytes]) -> tuple[str, str | None] | None:
    """The encoding, and what is to be told of it where it is a guess. None: these bytes are no text.

    A mark of byte order says it. Without one: UTF-16 has a zero in nearly every other byte; what is valid UTF-8 to its end
    is UTF-8; of the rest nothing is sure, and the encoding of Windows in Western Europe is the likeliest.
    """
    head = raw.read(_HEAD)
    for mark, name in _MARKS:
        if head.startswith(mark):
            return name, None if name == "utf-8" else f"read as {name.upper()}, by the mark at its head"
    if b"\x00" in head:
        wide = _wide(head)
        return None if wide is None else (wide, f"read as {wide.upper()}: every other byte is 0 (--encoding names another)")
    return _of_bytes(raw, head)


def _wide(head: bytes) -> str | None:
    """UTF-16 in one order of bytes or the other."""
    zeros = [sum(byte == 0 for byte in head[start::2]) / max(1, len(head[start::2])) for start in (0, 1)]
    if min(zeros) > 0.1 or max(zeros) < _MOSTLY:
        return None
    return "utf-16-be" if zeros[0] > zeros[1] else "utf-16-le"


def _of_bytes(raw: IO[bytes], head: bytes) -> tuple[str, str | None]:
    decoder = codecs.getincrementaldecoder("utf-8")()
    n_wide = 0  # characters that only UTF-8 writes so
    strange: bytes | None = None
    name = "cp1252"
    for block, is_last in _blocks(raw, head):
        if strange is None:
            try:
                text = decoder.decode(block, is_last)
                n_wide += 0 if text.isascii() else sum(not character.isascii() for character in text[:_HEAD])
                continue
            except UnicodeDecodeError as error:
                if n_wide + _n_wide(error.object[: error.start]) > 0:
                    return "utf-8", None  # a damaged UTF-8 file, which whoever reads it says with the place
                strange = _word_at(error.object, error.start)
        if _NOT_IN_WINDOWS.search(block):
            name = "latin-1"
    if strange is None:
        return "utf-8", None
    return name, f"read as {name}, as it is not UTF-8: {strange.decode(name, 'replace')!r} (--encoding names another)"


def _blocks(raw: IO[bytes], head: bytes) -> Iterator[tuple[bytes, bool]]:
    yield head, False
    while block := raw.read(_BLOCK):
        yield block, False
    yield b"", True


def _n_wide(valid: bytes) -> int:
    return 0 if valid.isascii() else 1


def _word_at(text: bytes, place: int) -> bytes:
    """The word around a byte, so that a reader sees whether the guess is right."""
    before = re.search(rb"[^\s,;|\"'\t]*$", text[max(0, place - 20) : place])
    after = re.match(rb"[^\s,;|\"'\t]*", text[place : place + 20])
    return (before[0] if before else b"") + (after[0] if after else b"")
