"""Dialogs: one modal screen per file."""
