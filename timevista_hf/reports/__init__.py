"""Reports: tables and cases to pages, texts and figures."""
