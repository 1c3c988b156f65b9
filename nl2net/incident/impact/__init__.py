"""Computed impact: BGP update files, AS graphs, cable maps and event models."""
