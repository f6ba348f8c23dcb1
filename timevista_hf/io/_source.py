"""The bytes of a file: what format they are in, and their text as UTF-8."""

from __future__ import annotations

import codecs
import gzip
import io
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from timevista_hf.io._sheet import complain

LARGEST_UNPACKED = 4 * 1024**3  # bytes; a small archive can hold any number of them


@dataclass(frozen=True, eq=False)
class Source:
    """A file's content: `data` is Parquet's bytes, or text in UTF-8 without a byte order mark."""

    name: str
    data: bytes
    format: str  # "csv", "jsonl" or "parquet"
    encoding: str | None  # None for Parquet
    compression: str | None


def read_source(path: str | Path) -> Source:
    """Read a file and tell its format by its first bytes, never by its name.

    Raises
    ------
    ValueError
        Where there is no such file, or it is of a format that is not read here; the message
        says which, and what to do.
    """
    path = Path(path)
    data = _read(path)
    compression = "gzip" if data.startswith(b"\x1f\x8b") else None
    if compression:
        data = _unpack(data, path.name)
    if data.startswith(b"PAR1"):
        return Source(path.name, data, "parquet", None, compression)
    _refuse_binary(data, path.name)
    text, encoding = _to_utf8(data, path.name)
    return Source(path.name, text, _text_format(text, path.name), encoding, compression)


def _read(path: Path) -> bytes:
    if path.is_dir():
        raise complain(path.name or str(path), "is a folder", fix="name one of its files")
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise complain(str(path), "no such file") from error
    except (OSError, ValueError) as error:
        raise complain(str(path), f"cannot be read: {error}") from error


def _unpack(data: bytes, name: str) -> bytes:
    try:
        with gzip.open(io.BytesIO(data)) as file:
            unpacked = file.read(LARGEST_UNPACKED + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise complain(name, f"is a damaged gzip file: {error}") from error
    if len(unpacked) > LARGEST_UNPACKED:
        raise complain(
            name, f"unpacks to more than {LARGEST_UNPACKED} bytes", fix="unpack it yourself"
        )
    return unpacked


def _refuse_binary(data: bytes, name: str) -> None:
    for start, kind, fix in _FOREIGN:
        if data.startswith(start):
            raise complain(name, f"is {kind}, not a forecast table", fix=fix)
    if data.startswith(b"PK"):
        kind, fix = _zip_content(data)
        raise complain(name, f"is {kind}, not a forecast table", fix=fix)


def _zip_content(data: bytes) -> tuple[str, str]:
    try:
        names = zipfile.ZipFile(io.BytesIO(data)).namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        names = []
    if any(entry.startswith("xl/") for entry in names):
        return "an Excel workbook (.xlsx)", "save the sheet as CSV UTF-8"
    if names and all(entry.endswith(".npy") for entry in names):
        return "a NumPy archive (.npz)", _CONVERT
    return "a zip archive", "unpack it and name the file inside"


def _to_utf8(data: bytes, name: str) -> tuple[bytes, str]:
    encoding = _encoding(data, name)
    if encoding in ("utf-8", "utf-8-sig"):
        return data.removeprefix(codecs.BOM_UTF8), encoding
    try:
        text = data.decode(encoding).removeprefix("\ufeff")
        return text.encode("utf-8"), encoding
    except UnicodeError as error:
        raise complain(
            name, f"is not valid {encoding.upper()} text: {error}", fix="save it as UTF-8"
        ) from error


def _encoding(data: bytes, name: str) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    head = data[:65536]
    if b"\0" in head:
        return _encoding_by_zeros(head, name)
    if b"\0" in data or any(byte in head for byte in _CONTROLS):
        raise complain(name, "is a binary file, not text", fix=_CONVERT)
    if _is_valid(data, "utf-8"):
        return "utf-8-sig" if data.startswith(codecs.BOM_UTF8) else "utf-8"
    # Bytes that Windows-1252 leaves undefined are still characters in Latin-1.
    return "cp1252" if _is_valid(data, "cp1252") else "latin-1"


def _encoding_by_zeros(head: bytes, name: str) -> str:
    even, odd = head[::2].count(0), head[1::2].count(0)
    if even == 0 and odd > len(head) // 4:
        return "utf-16-le"
    if odd == 0 and even > len(head) // 4:
        return "utf-16-be"
    raise complain(name, "is a binary file, not text", fix=_CONVERT)


def _is_valid(data: bytes, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for start in range(0, len(data), 1 << 20):
            decoder.decode(data[start : start + (1 << 20)])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _text_format(text: bytes, name: str) -> str:
    head = text[:4096].lstrip()
    if not text.strip():
        raise complain(name, "the file is empty")
    if head.startswith(b"<"):
        raise complain(
            name, "is an HTML or XML page, not a forecast table", fix="download the raw file"
        )
    if head.startswith(b"["):
        raise complain(
            name, "is a JSON array, not JSON Lines", fix="write one JSON object a line, without [ ]"
        )
    return "jsonl" if head.startswith(b"{") else "csv"


_CONVERT = "write the table as CSV, Parquet or JSON Lines"
_UNPACK = "unpack it and name the file inside"
_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\r\f\v\x1a")
_FOREIGN = (
    (b"Rar!", "a RAR archive", _UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    (b"BZh", "a bzip2 file", _UNPACK),
    (b"\xfd7zXZ\0", "an xz file", _UNPACK),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file", _UNPACK),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook (.xls)", "save the sheet as CSV UTF-8"),
    (b"\x93NUMPY", "a NumPy array (.npy)", _CONVERT),
    (b"\x80\x02", "a Python pickle, which is never opened", _CONVERT),
    (b"\x80\x03", "a Python pickle, which is never opened", _CONVERT),
    (b"\x80\x04", "a Python pickle, which is never opened", _CONVERT),
    (b"\x80\x05", "a Python pickle, which is never opened", _CONVERT),
    (b"\x89HDF", "an HDF5 file", _CONVERT),
    (b"CDF\x01", "a netCDF file", _CONVERT),
    (b"CDF\x02", "a netCDF file", _CONVERT),
    (b"ARROW1", "an Arrow or Feather file", "write it as Parquet"),
    (b"Obj\x01", "an Avro file", _CONVERT),
    (b"SQLite format 3", "an SQLite database", _CONVERT),
    (b"%PDF", "a PDF", _CONVERT),
    (b"\x89PNG", "a picture", _CONVERT),
    (b"\xff\xd8\xff", "a picture", _CONVERT),
    (b"\xff\xfe\0\0", "UTF-32 text", "save it as UTF-8"),
    (b"{\\rtf", "a rich-text document", "save it as plain text"),
)
