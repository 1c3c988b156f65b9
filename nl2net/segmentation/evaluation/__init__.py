"""Workloads with known roles, baselines, metrics and the protocol that compares them."""
