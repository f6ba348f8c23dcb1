"""A form for precision, recall and F1 of sets of ids."""

import gradio as gr

import timevista_hf as tv
from timevista_hf.apps.forms import SPACE_SETTINGS, as_table, form_errors, read_values


def compute(truth, answers, n_labels, invalid):
    """Score the answers that the form holds, one sample a line."""
    with form_errors(gr.Error):
        result = tv.load_metric("variate_f1", keep_in_memory=True).compute(
            predictions=read_values(answers, "Answers"),
            references=read_values(truth, "Truth"),
            n_labels=n_labels,
            invalid=invalid,
        )
    return as_table(result)


with gr.Blocks(title="Variate F1", analytics_enabled=False, delete_cache=(600, 600)) as demo:
    gr.Markdown(
        "# Variate F1\n"
        "Sets of ids. One sample a line, as `[3, 4]`; `[]` predicts nothing, `null` is an answer "
        "that could not be read."
    )
    with gr.Row():
        with gr.Column():
            inputs = [
                gr.Textbox("[3, 4]\n[0]\n[2]", label="Truth", lines=4),
                gr.Textbox("[4, 5, 6]\n[0]\nnull", label="Answers", lines=4),
                gr.Number(9, label="How many ids there are", precision=0, minimum=1),
                gr.Radio(["raise", "drop"], value="raise", label="Ids that can be none"),
            ]
            button = gr.Button("Compute", variant="primary")
        result = gr.Dataframe(headers=["measure", "value"], interactive=False)
    button.click(compute, inputs, result)

if __name__ == "__main__":
    demo.queue(api_open=False).launch(**SPACE_SETTINGS)
