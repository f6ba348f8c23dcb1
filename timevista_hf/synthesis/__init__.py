"""Series made from a seed: benchmarks of anomalies and of forecasts, and graded damage."""
