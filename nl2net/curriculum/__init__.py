"""Curriculum training of adaptation policies and the search for their weak spots."""
