"""The two themes of nl2net; those of Textual stay available in the palette."""

from __future__ import annotations

from textual.theme import Theme

DARK = Theme(
    name="nl2net-dark",
    primary="#4fb3bf",
    secondary="#7aa2f7",
    accent="#f4a259",
    foreground="#d6deeb",
    background="#11161d",
    surface="#161d26",
    panel="#1f2934",
    success="#7bc47f",
    warning="#e6c15a",
    error="#ef6f6c",
    dark=True,
    variables={
        "footer-key-foreground": "#f4a259",
        "input-selection-background": "#4fb3bf 35%",
        "block-cursor-background": "#4fb3bf",
        "block-cursor-foreground": "#0b0f14",
        "border": "#4fb3bf",
        "border-blurred": "#2b3947",
        "picture-link": "#53687b",
    },
)
LIGHT = Theme(
    name="nl2net-light",
    primary="#0b6e7a",
    secondary="#2f5bb7",
    accent="#b4541a",
    foreground="#1d2731",
    background="#f7f5f0",
    surface="#fffdf8",
    panel="#e9e5db",
    success="#2c7a36",
    warning="#8a6100",
    error="#b3261e",
    dark=False,
    variables={
        "footer-key-foreground": "#b4541a",
        "input-selection-background": "#0b6e7a 25%",
        "block-cursor-background": "#0b6e7a",
        "block-cursor-foreground": "#ffffff",
        "border": "#0b6e7a",
        "border-blurred": "#c9c3b4",
        "picture-link": "#a39b88",
    },
)
