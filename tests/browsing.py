"""Debian's Chromium, or another that is there, as the browser tests start it."""

import os
import shutil

CANDIDATES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def find_chromium():
    named = os.environ.get("CHROMIUM")
    found = [shutil.which(name) for name in ([named] if named else CANDIDATES)]
    return next((path for path in found if path), None)
