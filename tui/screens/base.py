"""What all screens share: the bar on top, the footer below, and running things in threads."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from textual.app import ComposeResult
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Footer

from nl2net.errors import Nl2netError
from nl2net.tui.desk import Desk
from nl2net.tui.widgets.top_bar import TopBar

if TYPE_CHECKING:
    from nl2net.tui.app import NetworkApp
    from nl2net.tui.widgets.grid import Grid

Found = TypeVar("Found")


class BaseScreen(Screen[Any]):
    """A screen of the application.

    Subclasses yield their body in `body`. Whatever may take longer than a frame goes through `in_thread`.
    """

    NAME = ""
    AUTO_FOCUS = ""

    @property
    def network_app(self) -> NetworkApp:
        """The application, typed."""
        return cast("NetworkApp", self.app)

    @property
    def desk(self) -> Desk:
        """The open graph, its session and the history."""
        return self.network_app.desk

    def compose(self) -> ComposeResult:
        """Bar, body, footer."""
        yield TopBar(self.NAME)
        yield from self.body()
        yield Footer(show_command_palette=False, compact=True)

    def body(self) -> ComposeResult:
        """Widgets between bar and footer."""
        yield Widget()

    def graph_changed(self) -> None:
        """Another graph, version or conversation is open now; screens that show it override this."""

    def in_thread(
        self,
        work: Callable[[], Found],
        done: Callable[[Found], None],
        *,
        failed: Callable[[str], None] | None = None,
        group: str = "work",
    ) -> None:
        """Run ``work`` in a thread and ``done`` with what it gave, here; errors are shown, never raised."""

        def run() -> None:
            try:
                found = work()
            except Nl2netError as error:
                self._later(failed or self.say_error, f"{error}\n{error.hint}".strip())
            except Exception as error:  # the application must outlive a fault in any part
                self.app.log.error(repr(error))
                self._later(failed or self.say_error, f"unexpected fault: {type(error).__name__}: {error}")
            else:
                self._later(done, found)

        self.run_worker(run, thread=True, group=group, exclusive=False, exit_on_error=False)

    def _later(self, call: Callable[[Any], None], value: Any) -> None:
        def guarded() -> None:
            if self.is_attached and self.app.is_running:
                call(value)

        # The application may be gone when a thread comes back.
        if self.app.is_running:
            self.app.call_later(guarded)

    def export_grid(self, grid: Grid) -> None:
        """Ask for a file and write all rows of a table to it."""
        from nl2net.tui.dialogs.file_name import FileDialog

        def write(path: Path | None) -> None:
            from nl2net.tui.export import export_rows

            if path is not None:
                work = partial(export_rows, grid.columns, [list(row) for row in grid.rows], path)
                self.in_thread(work, lambda count: self.notify(f"{count} rows written: {path}", markup=False))

        name = f"{(grid.id or 'table').removeprefix(f'{self.NAME}-')}.csv"
        self.app.push_screen(FileDialog("Export to", name, "a name with .csv or .parquet"), write)

    def say_error(self, text: str) -> None:
        """Show an error until it is dismissed or a while has passed."""
        from nl2net.display import clean

        self.notify(clean(text)[:1000], severity="error", timeout=10, markup=False)
