"""The files of a dataset: those of a folder, or else downloaded ones."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path
from urllib.parse import quote

import httpx2
from huggingface_hub import cached_assets_path, hf_hub_download

from timevista_hf.loading.download import check_hash, download
from timevista_hf.sources._source import Hub, Source, Web


class Files:
    """Give the files of a dataset by their paths at the origin.

    Parameters
    ----------
    source : Source
    data_dir : str or Path, optional
        A folder that holds them by the same paths; nothing is downloaded then.
    """

    def __init__(self, source: Source, data_dir: str | Path | None) -> None:
        self.source = source
        self._folder = None if data_dir is None else Path(data_dir)

    def path(self, name: str) -> Path:
        """Return where a file lies on this machine; it is downloaded where need be."""
        if self._folder is not None:
            path = self._folder / name
            if not path.is_file():
                raise ValueError(self._lacking(f"{path} is no file"))
            return path
        return self._download(name, self._hashes.get(name))

    def matching(self, pattern: str) -> list[str]:
        """Return the paths of the files that match a pattern, in order; at least one."""
        if self._folder is not None:
            found = (path.relative_to(self._folder) for path in self._folder.glob(pattern))
            names = sorted(path.as_posix() for path in found)
        else:
            names = sorted(name for name in self._hashes if fnmatch(name, pattern))
        if not names:
            where = self._folder if self._folder is not None else self.source.url
            raise ValueError(self._lacking(f"nothing in {where} matches {pattern}"))
        return names

    @cached_property
    def _hashes(self) -> Mapping[str, str]:
        origin = self.source.origin
        if not isinstance(origin, Web) or origin.sums is None:
            return self.source.hashes
        lines = self._download(origin.sums, None).read_text(encoding="utf-8").splitlines()
        pairs = (line.split(maxsplit=1) for line in lines if line.strip())
        return {name.strip().removeprefix("*"): digest for digest, name in pairs}

    def _download(self, name: str, sha256: str | None) -> Path:
        try:
            return self._fetch(name, sha256)
        except (httpx2.HTTPError, OSError) as error:  # of the Hub's client, and of ours
            reason = str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
            raise ValueError(self._lacking(f"{name} was not downloaded: {reason}")) from error

    def _fetch(self, name: str, sha256: str | None) -> Path:
        origin = self.source.origin
        if isinstance(origin, Web):
            folder = cached_assets_path("timevista_hf", "sources", self.source.name)
            url = origin.pattern.format(path=quote(name))
            return download(url, folder / name, sha256=sha256)
        path = hf_hub_download(origin.repo_id, name, repo_type="dataset", revision=origin.revision)
        check_hash(Path(path), sha256, f"{origin.repo_id}/{name}")
        return Path(path)

    def _lacking(self, reason: str) -> str:
        return (
            f"dataset {self.source.name!r}: {reason}. Either go online, to have it downloaded; or "
            f"get the files from {self.source.url} and name the folder that holds "
            f"{', '.join(self.source.files)} in `data_dir`"
        )


def describe_origin(source: Source) -> str:
    """Say where files come from, with the revision, for the provenance of a series."""
    if isinstance(source.origin, Hub):
        return f"hf://datasets/{source.origin.repo_id}@{source.origin.revision}"
    return source.url
