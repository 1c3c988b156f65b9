"""Prompt templates, one per purpose, and their renderer. No data access."""
