"""A form for the errors of point forecasts."""

import gradio as gr

import timevista_hf as tv
from timevista_hf.apps.forms import SPACE_SETTINGS, as_table, form_errors, read_series


def compute(truth, forecast, history, season_length):
    """Compute the errors of what the form holds, one series a line."""
    with form_errors(gr.Error):
        result = tv.load_metric("forecast_error", keep_in_memory=True).compute(
            predictions=read_series(forecast, "Forecast"),
            references=read_series(truth, "Truth"),
            history=read_series(history, "History") if history.strip() else None,
            season_length=season_length,
        )
    return as_table(result)


with gr.Blocks(title="Forecast error", analytics_enabled=False, delete_cache=(600, 600)) as demo:
    gr.Markdown(
        "# Forecast error\n"
        "MSE, MAE, MASE and DTW. One series a line, its numbers separated by commas or blanks; "
        "`nan` is a missing step."
    )
    with gr.Row():
        with gr.Column():
            inputs = [
                gr.Textbox("2 6 1 5 1", label="Truth", lines=3),
                gr.Textbox("2.5 6.5 1.5 4.5 0.5", label="Forecast", lines=3),
                gr.Textbox("5 2 4 7 3 6 4 1", label="History, for MASE (may be empty)", lines=3),
                gr.Number(1, label="Steps in a season", precision=0, minimum=1),
            ]
            button = gr.Button("Compute", variant="primary")
        result = gr.Dataframe(headers=["error", "mean over series"], interactive=False)
    button.click(compute, inputs, result)

if __name__ == "__main__":
    demo.queue(api_open=False).launch(**SPACE_SETTINGS)
