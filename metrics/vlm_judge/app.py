"""A form for one forecast: its plot, and what the built-in judge says of it."""

import io
import math

import gradio as gr
from PIL import Image

import timevista_hf as tv
from timevista_hf.apps.forms import SPACE_SETTINGS, form_errors, read_series


def compute(history, truth, forecast, level):
    """Judge and draw the case that the form holds."""
    with form_errors(gr.Error):
        arrays = {
            "history": _one_series(history, "History"),
            "references": _one_series(truth, "Truth"),
            "predictions": _one_series(forecast, "Forecast"),
        }
        metric = tv.load_metric("vlm_judge", level, keep_in_memory=True)
        result = metric.compute(**{name: [values] for name, values in arrays.items()})
    case = tv.ForecastCase(
        id="form",
        history=arrays["history"],
        truth=arrays["references"],
        prediction=arrays["predictions"],
    )
    scores, reasons = result["case_scores"][0], result["rationales"][0]
    rows = [[name.replace("_", " "), scores[name], reasons[name]] for name in scores]
    return Image.open(io.BytesIO(tv.render_case(case))), rows


def _one_series(text, label):
    return [value for row in read_series(text, label) for value in row]


def _wave(steps, late=0.0):
    values = (50 + 10 * math.sin(2 * math.pi * (step - late) / 24) for step in steps)
    return " ".join(f"{value:.1f}" for value in values)


with gr.Blocks(title="VLM judge", analytics_enabled=False, delete_cache=(600, 600)) as demo:
    gr.Markdown(
        "# VLM judge\n"
        "Is the shape of this forecast any good? Numbers separated by commas, blanks or lines; "
        "`nan` is a missing step. Scores run from 1 (worst) to 5 (best). The built-in judge "
        "measures; it is no vision model."
    )
    with gr.Row():
        with gr.Column(scale=1):
            inputs = [
                gr.Textbox(_wave(range(48)), label="History", lines=4),
                gr.Textbox(_wave(range(48, 96)), label="Truth", lines=4),
                gr.Textbox(_wave(range(48, 96), late=6), label="Forecast", lines=4),
                gr.Radio(["micro", "macro"], value="micro", label="Level"),
            ]
            button = gr.Button("Judge", variant="primary")
        with gr.Column(scale=2):
            plot = gr.Image(label="As a judge sees it", show_label=False, format="png", buttons=[])
            table = gr.Dataframe(
                headers=["aspect", "score", "reason"],
                column_widths=["130px", "80px", "390px"],
                interactive=False,
                wrap=True,
            )
    button.click(compute, inputs, [plot, table])

if __name__ == "__main__":
    demo.queue(api_open=False).launch(**SPACE_SETTINGS)
