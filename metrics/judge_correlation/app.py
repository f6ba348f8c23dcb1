"""A form for the correlation of a judge's scores with those of people."""

import itertools

import gradio as gr

import timevista_hf as tv
from timevista_hf.apps.forms import SPACE_SETTINGS, as_table, form_errors, read_series


def compute(judge, people):
    """Correlate the scores that the form holds."""
    with form_errors(gr.Error):
        result = tv.load_metric("judge_correlation", keep_in_memory=True).compute(
            predictions=_flat(judge, "Scores of the judge"),
            references=_flat(people, "Scores of people"),
        )
    return as_table(result)


def _flat(text, label):
    return list(itertools.chain.from_iterable(read_series(text, label)))


with gr.Blocks(title="Judge correlation", analytics_enabled=False, delete_cache=(600, 600)) as demo:
    gr.Markdown(
        "# Judge correlation\n"
        "How well a judge ranks cases as people do. The scores of the same cases in the same "
        "order, separated by commas, blanks or lines; `nan` where the judge gave none."
    )
    with gr.Row():
        with gr.Column():
            inputs = [
                gr.Textbox("4 2 5 3 1 4 nan 3 2 5 1 4", label="Scores of the judge", lines=4),
                gr.Textbox("5 2 4 3 2 4 1 1 2 5 1 3", label="Scores of people", lines=4),
            ]
            button = gr.Button("Compute", variant="primary")
        result = gr.Dataframe(headers=["measure", "value"], interactive=False)
    button.click(compute, inputs, result)

if __name__ == "__main__":
    demo.queue(api_open=False).launch(**SPACE_SETTINGS)
