"""Apps: pages for the browser; the only room that imports Gradio."""
