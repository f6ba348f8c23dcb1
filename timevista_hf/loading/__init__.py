"""Loading: bare names, downloads, and what evaluate modules share."""
