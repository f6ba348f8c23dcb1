"""A form for affiliation precision, recall and F1."""

import gradio as gr

import timevista_hf as tv
from timevista_hf.apps.forms import SPACE_SETTINGS, as_table, form_errors, read_values


def compute(truth, answers, start, stop, convention):
    """Score the answers that the form holds, one sample a line."""
    with form_errors(gr.Error):
        result = tv.load_metric("affiliation_f1", keep_in_memory=True).compute(
            predictions=read_values(answers, "Answers"),
            references=read_values(truth, "Truth"),
            ranges=[start, stop],
            convention=convention,
        )
    return as_table(result)


with gr.Blocks(title="Affiliation F1", analytics_enabled=False, delete_cache=(600, 600)) as demo:
    gr.Markdown(
        "# Affiliation F1\n"
        "How near predicted events lie to the true ones. One sample a line, its events as "
        "`[[start, stop], …]`; `[]` predicts nothing, `null` is an answer that could not be read."
    )
    with gr.Row():
        with gr.Column():
            inputs = [
                gr.Textbox("[[110, 130]]\n[[300, 340]]\n[[5, 9]]", label="Truth", lines=4),
                gr.Textbox("[[100, 120]]\n[]\nnull", label="Answers", lines=4),
                gr.Number(0, label="Start of the range"),
                gr.Number(400, label="End of the range"),
                gr.Radio(["honest", "paper"], value="honest", label="Convention"),
            ]
            button = gr.Button("Compute", variant="primary")
        result = gr.Dataframe(headers=["measure", "value"], interactive=False)
    button.click(compute, inputs, result)

if __name__ == "__main__":
    demo.queue(api_open=False).launch(**SPACE_SETTINGS)
