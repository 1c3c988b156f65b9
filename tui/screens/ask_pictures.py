"""Pictures, changes and exports of the answer in view."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from textual import on

from nl2net.model import ResultType
from nl2net.tui.recall import Shown
from nl2net.tui.scenes import Scene
from nl2net.tui.screens.running import Running
from nl2net.tui.widgets.answer_tabs import AnswerTabs
from nl2net.tui.widgets.changes_view import ChangesView
from nl2net.tui.widgets.grid import Grid
from nl2net.tui.widgets.picture import Picture


class AskPictures(Running):
    """The part of the Ask screen that draws, applies changes and writes files."""

    _drawing = 0

    def show_turn(self, at: int) -> None:
        """Show one turn, with its picture."""
        super().show_turn(at)
        self.draw(self.current)

    # ---- pictures -----------------------------------------------------------------------------------------------

    def draw(self, shown: Shown | None) -> None:
        """Compute the picture of an answer, or of the network, in a thread; an older one that is late is dropped."""
        from nl2net.tui.drawing import scene_of

        graph = self.desk.graph
        if graph is None:
            return
        self._drawing += 1
        number = self._drawing
        self.query_one(Picture).show(None)

        def done(scene: Scene) -> None:
            if number == self._drawing:
                self.query_one(Picture).show(scene)

        self.in_thread(partial(scene_of, graph, shown.answer if shown else None), done, group="draw")

    @on(Picture.Png)
    def _png_wanted(self) -> None:
        from nl2net.tui.drawing import write_png

        graph, shown = self.desk.graph, self.current
        if graph is None:
            return
        self.notify("drawing …")
        self.in_thread(
            partial(write_png, graph, shown.answer if shown else None, self.desk.locations.figures),
            lambda path: self.notify(f"picture: {path}", timeout=10, markup=False),
        )

    # ---- changes ------------------------------------------------------------------------------------------------

    @on(ChangesView.Act)
    def _change_act(self, event: ChangesView.Act) -> None:
        event.stop()
        if self.desk.session is None:
            return
        if event.what == "export_graph":
            from nl2net.tui.dialogs.file_name import FileDialog

            self.app.push_screen(FileDialog("Write the working copy to", "network.json"), self._export_graph)
        else:
            work = {
                "approve_change": self.desk.approve_change, "reject_change": self.desk.reject_change,
                "undo": self.desk.undo,
            }[event.what]  # fmt: skip
            self.in_thread(work, self._changed)

    def _changed(self, said: str) -> None:
        self.notify(said, markup=False)
        self.network_app.state_changed()
        self.graph_changed()

    def _export_graph(self, path: Path | None) -> None:
        session = self.desk.session
        if path is not None and session is not None:
            self.in_thread(partial(session.export, path), lambda done: self.notify(f"written: {done}", markup=False))

    # ---- tables -------------------------------------------------------------------------------------------------

    @on(Grid.Export)
    def _export_wanted(self, event: Grid.Export) -> None:
        event.stop()
        from nl2net.tui.dialogs.file_name import FileDialog

        grid = event.grid
        hint = "CSV, or Parquet by the suffix .parquet"
        self.app.push_screen(FileDialog("Export the rows to", "rows.csv", hint), partial(self._export_rows, grid))

    def _export_rows(self, grid: Grid, path: Path | None) -> None:
        if path is None:
            return
        from nl2net.tui.export import export_rows

        columns, rows = list(grid.columns), grid.rows

        def done(count: int) -> None:
            note = ""
            shown = self.current
            result = shown.answer.result if shown else None
            if result is not None and result.type in {ResultType.TABLE, ResultType.LIST} and result.truncated:
                note = f"; the result itself was cut, it has {result.rows_total} rows"
            self.notify(f"{count} rows written: {path}{note}", markup=False)

        self.in_thread(partial(export_rows, columns, rows, path), done)

    def show_picture(self) -> None:
        """Bring the picture into view."""
        self.query_one(AnswerTabs).open_tab("picture")
