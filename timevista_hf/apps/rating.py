"""Pages for the browser, made with Gradio, which is imported nowhere else."""

from __future__ import annotations

import base64
import html
import time
from collections.abc import Callable
from functools import partial
from importlib import resources
from typing import Any

from timevista_hf.apps.forms import SPACE_SETTINGS, form_errors
from timevista_hf.rating import RatingSession
from timevista_hf.rendering import Renderer, Style
from timevista_hf.rubrics import HIGHEST, LOWEST

SCORES = range(HIGHEST, LOWEST - 1, -1)  # best first, as a judge reads them
_FONTS = ("system-ui", "sans-serif")  # those of Gradio would have to be fetched


class RatingApp:
    """A page on which one annotator rates forecasts, with the keyboard if they like.

    The names of series and models do not reach the browser. One answer is taken for each picture:
    a second click, or one in a second window, that was meant for a picture no longer shown is
    ignored.

    Parameters
    ----------
    session : RatingSession
    style : Style, optional
        How cases are drawn: the picture that a judge is shown.
    merge : str
        The command that comes when all annotators are done.

    Raises
    ------
    ValueError
        Where Gradio is not installed; the message says how to install it.
    """

    def __init__(
        self, session: RatingSession, *, style: Style | None = None, merge: str = ""
    ) -> None:
        self._gradio = _load_gradio()
        self._session, self._renderer, self._merge = session, Renderer(style), merge
        self._shown = ("", 0.0)  # the question on the page, and since when
        self.blocks = self._build()

    def launch(self, *, port: int | None = None) -> str:
        """Serve the page to this machine only, in a thread, and return its address.

        Parameters
        ----------
        port : int, optional
            By default the first free one from 7860 on.

        Raises
        ------
        ValueError
            Where it is taken.
        """
        gr = self._gradio
        try:
            _, address, _ = self.blocks.queue(api_open=False).launch(
                **SPACE_SETTINGS,
                server_name="127.0.0.1",
                server_port=port,
                share=False,
                footer_links=[],
                theme=gr.themes.Default(font=_FONTS),
                css=_template("rating.css"),
                head=f"<script>{_template('rating.js')}</script>",
                prevent_thread_lock=True,
                quiet=True,
            )
        except OSError as error:
            taken = f"port {port} is" if port else "ports 7860 to 7959 are"
            raise ValueError(f"{taken} taken by another program; give a free --port") from error
        return str(address)

    def close(self) -> None:
        """Stop serving."""
        self.blocks.close(verbose=False)

    def _build(self) -> Any:
        gr = self._gradio
        with gr.Blocks(title="Rate forecasts", analytics_enabled=False) as blocks:
            token = gr.Textbox(visible=False)
            head, plot = gr.HTML(), gr.HTML()
            with gr.Row():
                with gr.Column(elem_id="answers"):
                    with gr.Column(elem_id="scale") as scale:
                        buttons = [gr.Button(elem_id=f"rate-{score}") for score in SCORES]
                        comment = gr.Textbox(
                            label="Comment (c, Esc leaves it)",
                            max_lines=4,
                            max_length=2000,
                            elem_id="comment",
                        )
                    with gr.Row():
                        skip = gr.Button("Skip (s)", elem_id="skip")
                        undo = gr.Button("Undo (u)", elem_id="undo")
                rubric = gr.Markdown(elem_id="rubric")
            outputs = [token, head, plot, scale, *buttons, comment, rubric, skip, undo]
            listen = {
                "outputs": outputs,
                "show_progress": "hidden",
                "concurrency_id": "rating",  # one answer after another
                "concurrency_limit": 1,
                "api_visibility": "private",
            }
            answers: list[Callable[..., None]] = [
                *(partial(self._session.rate, score) for score in SCORES),
                self._session.skip,
            ]
            for button, answer in zip([*buttons, skip], answers, strict=True):
                button.click(self._answering(answer), [token, comment], **listen)
            undo.click(self._undo, [token], **listen)
            blocks.load(self._show, None, **listen)
        return blocks

    def _answering(self, answer: Callable[..., None]) -> Callable[[str, str], list[Any]]:
        """Make what a button does: answer the question that it stood under, show the next."""

        def answered(token: str, comment: str) -> list[Any]:
            with form_errors(self._gradio.Error):
                shown, since = self._shown
                if token and token == shown == self._session.token:
                    answer(comment=comment, seconds=time.monotonic() - since)
            return self._show()

        return answered

    def _undo(self, token: str) -> list[Any]:
        taken = None
        with form_errors(self._gradio.Error):
            if token == self._session.token:
                taken = self._session.undo()
        return self._show(taken.comment if taken else "")

    def _show(self, comment: str = "") -> list[Any]:
        """Return what every part of the page holds, in the order of the outputs."""
        gr, session, question = self._gradio, self._session, self._session.current
        if session.token != self._shown[0]:
            self._shown = (session.token, time.monotonic())
        skip = gr.update(interactive=question is not None)
        undo = gr.update(interactive=session.done > 0)
        head = _head(session)
        if question is None:
            labels = [gr.update()] * len(SCORES)
            hidden = gr.update(visible=False)
            return ["", head, self._end(), hidden, *labels, "", "", skip, undo]
        labels = [gr.update(value=question.rubric.scale[score - 1]) for score in SCORES]
        picture = _picture(self._renderer.render(question.case))
        text = question.rubric.body
        shown = gr.update(visible=True)
        return [session.token, head, picture, shown, *labels, comment, text, skip, undo]

    def _end(self) -> str:
        session = self._session
        lines = [
            f"{session.done - session.skipped} rated, {session.skipped} skipped. They are in "
            f"{session.path}; stop the program with Ctrl-C.",
            "When all annotators are done, merge their ratings:",
        ]
        words = "".join(f"<p>{html.escape(line)}</p>" for line in lines)
        return f'<div id="end">{words}<pre>{html.escape(self._merge)}</pre></div>'


def _head(session: RatingSession) -> str:
    question, done, total = session.current, session.done, session.total
    title = question.rubric.dimension.replace("_", " ").capitalize() if question else "All done"
    count = f"{done + 1} of {total}" if question else f"{done} of {total}"
    return (
        f'<div id="head"><h1>{html.escape(title)}</h1>'
        f'<progress max="{total}" value="{done}" aria-label="Answered"></progress>'
        f"<span>{count}</span></div>"
    )


def _picture(png: bytes) -> str:
    # Inside the page: no file is left in a cache, and no name of one tells anything.
    data = base64.b64encode(png).decode("ascii")
    words = "History, truth and forecast of one case"
    return f'<img id="plot" alt="{words}" src="data:image/png;base64,{data}">'


def _template(name: str) -> str:
    return (
        resources.files("timevista_hf.apps").joinpath("templates", name).read_text(encoding="utf-8")
    )


def _load_gradio() -> Any:
    try:
        import gradio
    except ImportError as error:
        raise ValueError(
            "the page needs the package `gradio`: pip install 'timevista-hf[space]'"
        ) from error
    return gradio
