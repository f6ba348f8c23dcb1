"""Tiny files in the formats of the sources."""

import zipfile

import datasets
import pytest


@pytest.fixture
def save_arrow(tmp_path):
    """Save rows as `datasets` does, in the folder of a part."""

    def save(folder, rows, target=None):
        one = datasets.Value("float32")
        features = datasets.Features(
            {
                "item_id": datasets.Value("string"),
                "start": datasets.Value("timestamp[s]"),
                "freq": datasets.Value("string"),
                "target": target or datasets.List(one),
            }
        )
        datasets.Dataset.from_list(rows, features=features).save_to_disk(tmp_path / folder)
        return tmp_path

    return save


@pytest.fixture
def save_zip(tmp_path):
    """Write an archive of named contents."""

    def save(path, members):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(tmp_path / path, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return tmp_path

    return save
