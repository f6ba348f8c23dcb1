"""A form for the agreement among annotators."""

import gradio as gr

import timevista_hf as tv
from timevista_hf.apps.forms import SPACE_SETTINGS, as_table, form_errors, read_series


def compute(ratings, levels, weights):
    """Measure the agreement in the ratings that the form holds, one case a line."""
    with form_errors(gr.Error):
        scale = read_series(levels, "Scale")
        result = tv.load_metric("annotator_agreement", keep_in_memory=True).compute(
            predictions=read_series(ratings, "Ratings"),
            levels=scale[0] if scale else [],
            weights=weights,
        )
    return as_table(result)


with gr.Blocks(
    title="Annotator agreement", analytics_enabled=False, delete_cache=(600, 600)
) as demo:
    gr.Markdown(
        "# Annotator agreement\n"
        "One case a line, one rating an annotator, always in the same order; `nan` is a missing "
        "rating. 1 is perfect agreement, 0 is chance."
    )
    with gr.Row():
        with gr.Column():
            inputs = [
                gr.Textbox(
                    "1 1 nan\n2 2 3\n3 3 3\n4 5 4\n2 2 2\nnan 1 1\n5 5 4", label="Ratings", lines=8
                ),
                gr.Textbox("1 2 3 4 5", label="Scale"),
                gr.Radio(["quadratic", "linear", "none"], value="quadratic", label="Weights"),
            ]
            button = gr.Button("Compute", variant="primary")
        result = gr.Dataframe(headers=["measure", "value"], interactive=False)
    button.click(compute, inputs, result)

if __name__ == "__main__":
    demo.queue(api_open=False).launch(**SPACE_SETTINGS)
