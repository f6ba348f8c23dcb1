"""Measure `timevista score` by the number of cases: time, memory, sizes, and the page in Chromium.

Run: python benchmarks/large_results.py --cases 1000,10000,100000 [--plots all] [--folder FOLDER]
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

HISTORY, HORIZON = 48, 12  # steps


def main() -> None:
    """Print a row of the table for each number of cases."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", default="1000,10000")
    parser.add_argument("--plots", default="worst")
    parser.add_argument("--folder", type=Path, help="keep what is written there")
    asked = parser.parse_args()
    folder = asked.folder or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    print("cases | wall | CPU | memory | report.html | plots/ | other files | opened | searched")
    for count in map(int, asked.cases.split(",")):
        forecasts = folder / f"{count}.parquet"
        write_forecasts(forecasts, count)
        spent = score(forecasts, folder / f"{count}-{asked.plots}", asked.plots)
        sizes = " | ".join(f"{size / 1e6:.1f} MB" for size in measure(spent.folder))
        opened, searched = open_page(spent.folder / "report.html")
        print(
            f"{count:,} | {spent.wall:.0f} s | {spent.cpu:.0f} s | {spent.memory / 1e6:.0f} MB | "
            f"{sizes} | {opened:.1f} s | {searched:.2f} s",
            flush=True,
        )
    if asked.folder is None:
        shutil.rmtree(folder)


def write_forecasts(path: Path, count: int) -> None:
    """Write noisy waves with two forecasts each: the truth with noise, and the last value."""
    rng = np.random.default_rng(0)
    series, length = count // 2, HISTORY + HORIZON
    steps = np.arange(length)
    level, height, phase, slope = (
        rng.uniform(*bounds, (series, 1)) for bounds in ((20, 200), (1, 15), (0, 6.3), (-0.3, 0.3))
    )
    season = rng.choice([6, 7, 12, 24], (series, 1))
    truth = level + height * np.sin(2 * np.pi * steps / season + phase) + slope * steps
    truth += rng.normal(size=truth.shape)
    noisy, flat = np.full((2, *truth.shape), np.nan)
    noisy[:, HISTORY:] = truth[:, HISTORY:] + rng.normal(0, 2, (series, HORIZON))
    flat[:, HISTORY:] = truth[:, HISTORY - 1 : HISTORY]
    days = np.datetime64("2024-01-01") + steps.astype("timedelta64[D]")
    columns = {
        "unique_id": np.repeat([f"S{number:06d}" for number in range(series)], length),
        "ds": np.tile(days, series),
        "y": truth.round(3).ravel(),
        "noisy": pa.array(noisy.round(3).ravel(), from_pandas=True),
        "flat": pa.array(flat.round(3).ravel(), from_pandas=True),
    }
    pq.write_table(pa.table(columns), path)


@dataclass(frozen=True)
class Spent:
    """What a run took: seconds, and bytes at the highest."""

    folder: Path
    wall: float
    cpu: float
    memory: int


def score(forecasts: Path, folder: Path, plots: str) -> Spent:
    """Score a file by the built-in judge in a process of its own."""
    shutil.rmtree(folder, ignore_errors=True)
    command = [sys.executable, "-m", "timevista_hf", "score", str(forecasts), "--plots", plots]
    started = time.perf_counter()
    process = subprocess.Popen(
        [*command, "--output", str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    if status:
        raise SystemExit(f"{' '.join(command)}: failed")
    return Spent(folder, wall, used.ru_utime + used.ru_stime, 1024 * used.ru_maxrss)


def measure(folder: Path) -> tuple[int, int, int]:
    """Return the bytes of the page, of the plots and of the other files."""
    page = (folder / "report.html").stat().st_size
    plots = sum(file.stat().st_size for file in folder.glob("plots/*"))
    return page, plots, sum(file.stat().st_size for file in folder.glob("*.*")) - page


def open_page(page: Path) -> tuple[float, float]:
    """Return the seconds until Chromium lists all cases, and until a first search is answered."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return float("nan"), float("nan")
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=arguments
        )
        tab = browser.new_page()
        started = time.perf_counter()
        tab.goto(page.as_uri())
        tab.wait_for_selector(".filters:not([hidden])")
        opened = time.perf_counter() - started
        searched = tab.evaluate(_SEARCH) / 1000
        browser.close()
    return opened, searched


_SEARCH = """() => new Promise((done) => {
  const started = performance.now();
  const told = new MutationObserver(() => done(performance.now() - started));
  told.observe(document.querySelector(".count"), { childList: true });
  const box = document.querySelector("input[type=search]");
  box.value = "s000123 late";
  box.dispatchEvent(new Event("input", { bubbles: true }));
})"""


if __name__ == "__main__":
    main()
