"""One module per family of formats; each offers `READERS`."""
