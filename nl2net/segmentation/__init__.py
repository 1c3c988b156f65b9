"""Micro-segmentation: flow logs, roles, policies, and their proof."""
