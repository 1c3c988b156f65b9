"""Readers: bytes of one file in, documents in normal form out."""

from __future__ import annotations

from nl2net.incident.readers.registry import ReadLimits, is_about_the_folder, read_document

__all__ = ["ReadLimits", "is_about_the_folder", "read_document"]
