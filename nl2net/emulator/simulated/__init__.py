"""The simulator: no privileges, no packets, the same answers as the kernel."""
