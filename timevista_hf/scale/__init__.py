"""Scale: the pipeline beyond one process."""
