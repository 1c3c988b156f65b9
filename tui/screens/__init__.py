"""One screen per file; each offers an ``ENTRY`` that `nl2net.tui.registry` finds."""
