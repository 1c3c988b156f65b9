"""Text from data on its way to a screen or a file."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from nl2net.sandbox.render import csv_cell, html_text, markdown_text, visible


@given(st.text())
def test_nothing_unseen_is_left(text: str) -> None:
    for shown in (visible(text), html_text(text), markdown_text(text)):
        assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t"]
        assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\u200d\ufeff\x1b\x9b")


@given(st.text(alphabet="<>&\"'![]()http:/x`*_"))
def test_markup_is_inert(text: str) -> None:
    assert not set(html_text(text)) & set("<>\"'")
    markdown = markdown_text(text)
    for place, mark in enumerate(markdown):
        assert mark not in "![]()<>`*_:" or markdown[place - 1] == "\\"


@given(st.text())
def test_no_cell_is_a_formula(text: str) -> None:
    cell = csv_cell(text)
    if cell.startswith(("=", "+", "-", "@", "\t", "\r")):
        float(cell)


def test_numbers_stay_numbers() -> None:
    assert [csv_cell(value) for value in (-1, 2.5, None, "-1.5e3", "+4")] == [-1, 2.5, None, "-1.5e3", "+4"]
    assert csv_cell("=HYPERLINK(1)") == "'=HYPERLINK(1)" and csv_cell(" @x") == "' @x"
