"""What a file of rows is, found out from its first bytes: text, Parquet or sheets, packed or not, and in which encoding."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal

from mercer._runs.encodings import encoding_of
from mercer._runs.errors import DataError, RunError

STANDARD_INPUT = "-"
Kind = Literal["text", "parquet", "sheets"]
TEXTS = (".csv", ".tsv", ".tab", ".txt", ".dat")
PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip")
PARQUETS = (".parquet", ".pq")
SHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_KNOWN = "CSV (.csv, .tsv, .txt; packed as .csv.gz, .bz2, .xz, .zst or .zip), .parquet, or sheets (.xlsx, .xls, .ods)"
_PACKINGS = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd", b"PK\x03\x04": "zip"}
_OLD_SHEETS = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_BLOCK = 1 << 20


def kind_of(path: Path) -> Kind:
    """Text, Parquet or sheets: by the bytes that such files begin with, as names may be wrong or missing."""
    with path.open("rb") as file:
        head = file.read(8)
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(_OLD_SHEETS) or (head.startswith(b"PK\x03\x04") and _has_sheets(path)):
        return "sheets"
    return "text"


def is_parquet(path: Path) -> bool:
    return kind_of(path) == "parquet"


def _has_sheets(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
    except zipfile.BadZipFile:
        return False
    return "[Content_Types].xml" in names or "content.xml" in names


def packing_of(path: Path) -> str | None:
    """How a text is packed; None: not at all."""
    with path.open("rb") as file:
        head = file.read(6)
    return next((name for mark, name in _PACKINGS.items() if head.startswith(mark)), None)


def check_readable(path: Path) -> None:
    """Refuse what is not a file of a known kind, one that is not what its name says, and an empty one."""
    try:
        if not path.exists():
            raise DataError(f"{path}: there is no such file.")
        if not path.is_file():
            raise DataError(f"{path}: this is not a file.")
        if path.stat().st_size == 0:
            raise DataError(f"{path}: the file is empty.")
        kind = kind_of(path)
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}.") from error
    except ValueError as error:  # a name that cannot be one
        raise DataError(f"{str(path)!r}: {error}.") from error
    name = path.name.lower()
    bare = next((name.removesuffix(end) for end in PACKED if name.endswith(end)), name)
    if kind == "text" and name.endswith((*PARQUETS, *SHEETS)):
        raise DataError(f"{path}: its name says {path.suffix}, and its contents do not.")
    if kind == "text" and not bare.endswith(TEXTS) and bare == name:
        raise DataError(f"{path}: a file of this kind cannot be read. What can: {_KNOWN}.")
    if kind == "text" and bare != name and packing_of(path) is None:
        raise DataError(f"{path}: its name says that it is packed ({path.suffix}), and its contents are not.")


# ---- texts


@contextmanager
def opened(path: Path, encoding: str | None) -> Iterator[IO[str]]:
    """The text of a file, unpacked and decoded; a mark of byte order at its head is passed over. None: any that fits."""
    name = encoding or found_encoding(path)[0]
    if name.lower().replace("-", "").replace("_", "") == "utf8":
        name = "utf-8-sig"
    with unpacked(path) as raw, io.TextIOWrapper(raw, encoding=name, newline="") as text:
        yield text


def found_encoding(path: Path) -> tuple[str, str | None]:
    """The encoding that the bytes of a file speak for, and what is to be told of the guess."""
    with unpacked(path) as raw:
        found = encoding_of(raw)
    if found is None:
        raise DataError(f"{path}: this is no text: it holds bytes that are 0. What can be read: {_KNOWN}.")
    return found


@contextmanager
def unpacked(path: Path) -> Iterator[Any]:
    """The bytes of a text, whatever it is packed with."""
    packing = packing_of(path)
    try:
        if packing == "zip":
            with zipfile.ZipFile(path) as archive, archive.open(_only_member(path, archive)) as member:
                yield member
            return
        with _opener(path, packing) as raw:
            yield raw
    except (gzip.BadGzipFile, EOFError, lzma.LZMAError, zipfile.BadZipFile) as error:
        raise DataError(f"{path}: the packed file is damaged ({error}).") from error
    except OSError as error:
        if packing == "bzip2" and error.errno is None:
            raise DataError(f"{path}: the packed file is damaged ({error}).") from error
        raise
    except Exception as error:
        if type(error).__name__ in ("ZstdError", "error") and packing is not None:  # of zstandard and zlib
            raise DataError(f"{path}: the packed file is damaged ({error}).") from error
        raise


def _opener(path: Path, packing: str | None) -> Any:
    if packing == "zstd":
        try:
            import zstandard
        except ImportError as error:
            raise RunError(f"{path}: to unpack this file takes zstandard: pip install 'mercer[cli]'") from error
        return io.BufferedReader(zstandard.open(path, "rb"))
    openers: dict[str | None, Any] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}
    return openers.get(packing, open)(path, "rb")


def _only_member(path: Path, archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    """The one file in an archive; what macOS adds to every archive is none."""
    members = [each for each in archive.infolist() if not each.is_dir() and not each.filename.startswith("__MACOSX/")]
    if len(members) != 1:
        names = ", ".join(each.filename for each in members[:5]) + (" …" if len(members) > 5 else "")
        raise DataError(f"{path}: the archive holds {len(members)} files ({names}). It must hold one; unpack it first.")
    if members[0].flag_bits & 1:
        raise DataError(f"{path}: the archive is encrypted. Unpack it first.")
    return members[0]


@contextmanager
def plain_text(path: Path, encoding: str | None) -> Iterator[Path]:
    """A file of the same text, not packed and in UTF-8, which is what polars reads in pieces: itself or a copy for a while."""
    name = encoding or found_encoding(path)[0]
    if packing_of(path) is None and name.lower().replace("-", "").replace("_", "") in ("utf8", "utf8sig", "ascii"):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="mercer-") as folder:
        copy = Path(folder) / "text.csv"
        with opened(path, name) as text, copy.open("w", encoding="utf-8", newline="") as file:
            shutil.copyfileobj(text, file, _BLOCK)
        yield copy


# ---- standard input


def spool(folder: Path, name: str) -> Path:
    """All of standard input as a file NAME.csv (or .parquet …) in a folder, from where it can be read again."""
    if sys.stdin is None or sys.stdin.isatty():
        raise RunError("-: standard input is a terminal. Send it a file, as in: mercer train - --target y < data.csv")
    partial = folder / f".{name}.partial"
    with partial.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file, _BLOCK)
    if partial.stat().st_size == 0:
        partial.unlink()
        raise DataError("-: standard input is empty.")
    ends = {"parquet": ".parquet", "sheets": ".xlsx"}
    packings = {None: ".csv", "gzip": ".csv.gz", "bzip2": ".csv.bz2", "xz": ".csv.xz", "zstd": ".csv.zst", "zip": ".csv.zip"}
    kind = kind_of(partial)
    whole = folder / (name + (ends[kind] if kind in ends else packings[packing_of(partial)]))
    return partial.replace(whole)
