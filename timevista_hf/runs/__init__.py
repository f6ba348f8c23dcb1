"""Runs: whole jobs that fill a folder."""
