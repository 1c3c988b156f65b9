"""One compiler per enforcement target."""
