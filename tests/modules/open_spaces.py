"""Open every Space of metrics/, fill its form, and print what was seen.

In a process of its own, because gradio leaves sockets and event loops behind when it is imported.
"""

import contextlib
import json
import runpy
import sys
from pathlib import Path

from timevista_hf import metric_modules

WRONG = ["<b>\n", "", "5", "[5]", "[[5, 6]]\n[[5]]", '"word"', "{}", "1 2 3\n4"]


def look(gradio, path):
    """Return what a Space's form is, what it computes, and what it says to wrong input."""
    space = runpy.run_path(str(path), run_name="space")
    demo = space["demo"]
    [event] = demo.fns.values()
    example = [field.value for field in event.inputs]
    result = space["compute"](*example)
    return {
        "title": demo.title,
        "analytics": demo.analytics_enabled,
        "delete_cache": demo.delete_cache,
        "columns": len(event.outputs[-1].headers),
        "rows": result[-1] if isinstance(result, tuple) else result,
        "wrong": {text: _error(gradio, space["compute"], text, *example[1:]) for text in WRONG},
    }


def launch(gradio, path):
    """Return the settings with which a Space runs when it is started as a script."""
    seen = {}
    start = gradio.Blocks.launch

    def launched(demo, **settings):
        _, seen["address"], _ = start(demo, **settings, prevent_thread_lock=True, quiet=True)
        seen["run_history"] = demo.config["run_history"]
        seen["enable_monitoring"] = demo.enable_monitoring
        seen["max_file_size"] = demo.max_file_size
        seen["api_open"] = demo.api_open
        seen["ssr_mode"] = demo.ssr_mode
        demo.close(verbose=False)

    gradio.Blocks.launch = launched
    try:
        runpy.run_path(str(path), run_name="__main__")
    finally:
        gradio.Blocks.launch = start
    return seen


def _error(gradio, compute, *values):
    try:
        compute(*values)
    except gradio.Error as error:
        return [error.message, error.print_exception]
    return None


def main():
    """Look at every Space, and launch it."""
    import gradio

    paths = [path for root in metric_modules.__path__ for path in Path(root).glob("*/app.py")]
    return {p.parent.name: {**look(gradio, p), "launched": launch(gradio, p)} for p in paths}


if __name__ == "__main__":
    with contextlib.redirect_stdout(sys.stderr):
        seen = main()
    print(json.dumps(seen))  # noqa: T201
