"""How a file is to be read, as far as its user says."""

from __future__ import annotations

from dataclasses import dataclass

from mercer._runs.errors import RunError

NULLS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?")
_NAMED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " "}


@dataclass(frozen=True)
class FileOptions:
    """How to read a file. None: find out from the file."""

    separator: str | None = None
    decimal_comma: bool = False
    encoding: str | None = None
    nulls: tuple[str, ...] = NULLS
    sheet: str | None = None  # the name of one, or its number from 1

    def __post_init__(self) -> None:
        separator = _NAMED.get(self.separator or "", self.separator)
        object.__setattr__(self, "separator", separator)
        if separator is not None and (len(separator) != 1 or not separator.isascii() or separator in '"\r\n\0'):
            raise RunError(f"--separator {separator!r}: it must be one character, such as ';' or tab.")
        if separator == "," and self.decimal_comma:
            raise RunError(
                "--separator ',' --decimal-comma: a comma cannot be both. Quoted numbers need --decimal-comma alone."
            )
        if self.encoding is not None and not _is_encoding(self.encoding):
            raise RunError(f"--encoding {self.encoding}: there is no such encoding. Known are utf-8, latin-1, cp1252, utf-16 …")


def _is_encoding(name: str) -> bool:
    """Whether it turns bytes into text: Python also names some that turn bytes into bytes, and one that always fails."""
    try:
        "a".encode(name)
        return b"a".decode(name, "ignore") in ("a", "")
    except (LookupError, UnicodeError, ValueError, TypeError):
        return name.lower() in ("utf-16", "utf-32")
