"""Kubernetes objects, policy evaluation and compilation, and the loopback API server."""
