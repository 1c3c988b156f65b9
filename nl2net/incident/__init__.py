"""Incident investigation: corpus, cited evidence, computed impact."""
