"""Network emulator: one interface over kernel namespaces and an exact simulator."""
