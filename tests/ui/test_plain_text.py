"""Names, sentences, file names, questions, answers and errors are shown as plain text: they load no file and contain no link."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import m3desk_ui
import pytest
from m3desk_ui.chat.turn import ChatTurn, Round
from m3desk_ui.hub.services import Services
from m3desk_ui.look import plain, theme
from m3desk_ui.people.person_picker import BothFaces
from m3desk_ui.video.face_chip import FaceChip
from m3desk_ui.window.main_window import MainWindow
from m3desk_ui.window.models_dialog import ModelsDialog
from m3desk_ui.window.settings_dialog import SettingsDialog
from m3desk_ui.window.window_state import WindowState
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent, QTextDocument
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QInputDialog,
    QLabel,
    QMenu,
    QMessageBox,
    QPushButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from m3desk import config, events
from m3desk.errors import M3DeskError
from tests.ui.fakes import FakeDesk, FakePlayer
from tests.ui.hostile import (
    Baits,
    HostileDesk,
    can_watch,
    hostile_world,
    wrong_in_html,
    wrong_in_model,
    wrong_in_tip,
    wrong_in_widget,
    wrong_on_screen,
)

pytestmark = [
    pytest.mark.skipif(not can_watch(), reason="who opens a file is watched with inotify"),
    pytest.mark.timeout(120),
]


@pytest.fixture
def baits(tmp_path: Path) -> Iterator[Baits]:
    baits = Baits(tmp_path)
    yield baits
    baits.close()


@pytest.fixture
def evil(baits: Baits) -> str:
    return baits.evil()


# ---------------------------------------------------------------- the measures themselves


def test_a_label_of_qts_own_is_seen_opening_the_files(qtbot: QtBot, baits: Baits) -> None:
    label = QLabel(f"Ann <img src='file://{baits.file}'>")
    qtbot.addWidget(label)
    label.show()
    label.grab()
    assert baits.opened()
    assert any("shows the picture" in fault for fault in wrong_in_widget(label))


def test_a_tooltip_of_qts_own_is_seen_opening_the_files(qtbot: QtBot, baits: Baits) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)
    widget.setToolTip(f"Ann <img src='file://{baits.file}'>")
    widget.show()
    assert list(wrong_in_widget(widget))
    hover(widget, QPoint(5, 5))
    assert baits.opened()


# ---------------------------------------------------------------- the module


def test_a_label_shows_what_looks_like_html_and_opens_nothing(qtbot: QtBot, baits: Baits, evil: str) -> None:
    label = plain.Label(evil)
    qtbot.addWidget(label)
    label.show()
    label.grab()
    assert label.textFormat() == Qt.TextFormat.PlainText
    assert "<img src='" in label.text() and list(wrong_in_widget(label)) == []
    assert baits.opened() == []


def test_a_page_loads_nothing_even_of_what_was_forgotten_to_be_escaped(qtbot: QtBot, baits: Baits, evil: str) -> None:
    page, label = plain.Page(), plain.RichLabel()
    for widget in (page, label):
        qtbot.addWidget(widget)
        widget.show()
    page.show_html(f"<p>{evil}</p>")
    label.setText(f"<b>{evil}</b>")
    page.grab(), label.grab()
    assert baits.opened() == []
    for html in (page.toHtml(), label.text()):
        assert not [fault for fault in wrong_in_html(html, "page") if re.search("picture|links|background", fault)]
    page.setHtml(evil)  # around our own gate: the document still loads nothing
    page.grab()
    assert baits.opened() == []
    assert isinstance(page.document().resource(QTextDocument.ResourceType.ImageResource, f"file://{baits.file}"), object)
    assert baits.opened() == []
    assert not page.openLinks() and not page.openExternalLinks() and not label.openExternalLinks()


def test_a_tooltip_shows_every_character_and_wraps(qtbot: QtBot, baits: Baits, evil: str) -> None:
    button = QPushButton()
    qtbot.addWidget(button)
    plain.tip(button, evil)
    document = QTextDocument()
    document.setHtml(button.toolTip())
    assert "<img src='" in document.toPlainText() and "&file" in document.toPlainText() and "&lt;b&gt;" in document.toPlainText()
    assert not wrong_in_tip(button.toolTip(), "tip")
    assert "<p>" not in button.accessibleDescription() and "<img" in button.accessibleDescription()
    assert plain.tip_text("Play this moment") == "Play this moment"
    button.show()
    hover(button, QPoint(3, 3))
    assert baits.opened() == []
    screen = button.screen().availableGeometry()
    assert all(w.width() < screen.width() for w in QApplication.topLevelWidgets() if w.inherits("QTipLabel"))


def test_a_message_box_shows_plain_text(qtbot: QtBot, baits: Baits, evil: str) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    box = plain.box(parent, QMessageBox.Icon.Question, evil, evil, evil)
    box.addButton(plain.entry(evil), QMessageBox.ButtonRole.AcceptRole)
    box.show()
    box.grab()
    assert "<img" in box.text() and "<img" in box.informativeText()
    assert [f for w in (box, *box.findChildren(QWidget)) for f in wrong_in_widget(w)] == []
    assert baits.opened() == []


def test_entries_have_no_mnemonic_and_titles_no_placeholder() -> None:
    assert plain.entry("R&D\tCtrl+Q") == "R&&D Ctrl+Q"
    assert plain.title("a [*] b") == "a [*][*] b"
    assert len(plain.entry("x" * 5000)) == plain.ENTRY and plain.line(" a\n b\t") == "a b"


def test_characters_that_act_get_a_sign_and_places_stay() -> None:
    assert (
        plain.visible("a\x1b[31m\0\x7f\u202eb\ufdd0\ud800")
        == "a␛[31m␀␡\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}"
    )
    family = "\U0001f469\u200d\U0001f680 e\u0301 你好 שלום"
    assert plain.visible(family) == plain.line(family) == plain.paragraph(family) == family
    assert plain.paragraph("a\r\nb\u2028c") == "a\nb\nc"
    long_ = "e\u0301" * 100
    assert plain.breakable(long_).replace("\N{ZERO WIDTH SPACE}", "") == long_
    assert "\N{ZERO WIDTH SPACE}\u0301" not in plain.breakable(long_)


def test_what_is_copied_is_the_text_without_the_places_where_it_may_be_broken(qtbot: QtBot) -> None:
    path = "/home/ann/Videos/holidays-in-rome-2024/film-of-the-second-day.mp4.m3desk"
    label, rich, page = plain.Label(path), plain.RichLabel(), plain.Page()
    rich.say(path)
    page.show_html(f"<p>{plain.html(path)}</p>")
    for shown in (label, rich):
        qtbot.addWidget(shown)
        shown.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard)
        shown.show()
        QApplication.clipboard().clear()
        shown.setSelection(0, len(path) + 1)  # with the place where it may be broken
        qtbot.keyClick(shown, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
        assert QApplication.clipboard().text() == path
    qtbot.addWidget(page)
    page.selectAll()
    copied = page.createMimeDataFromSelection()
    assert copied.text() == path and "\N{ZERO WIDTH SPACE}" not in copied.html()


# ---------------------------------------------------------------- the whole window


@pytest.fixture
def shown(qtbot: QtBot, baits: Baits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MainWindow]:
    """The window with all its docks on a hostile memory in a folder with a hostile name; menus and message boxes do not wait."""
    monkeypatch.setattr(plain, "sure", _not_sure)
    monkeypatch.setattr(QInputDialog, "getItem", _no_choice)
    name = re.sub(r"[/\0]", "_", baits.evil())
    memory = str(tmp_path / f"[*] {name[:80]}.m3desk")
    desk = HostileDesk(hostile_world(baits), baits.evil("engine"), memory=memory)
    services = Services(lambda _path: desk, FakePlayer, lambda v: v + ".m3desk", lambda: desk.doctor().result())
    theme.apply(QApplication.instance(), "light")  # type: ignore[arg-type]
    window = MainWindow(services, WindowState())
    qtbot.addWidget(window)
    window.show()
    window.dock_area.load_rest()
    qtbot.waitUntil(lambda: len(window.dock_area.views) == len(window.docks), timeout=30_000)
    window.open_memory(memory)
    qtbot.waitUntil(lambda: window.hub.desk is desk, timeout=30_000)
    chat, people = window.dock_area.views["chat"], window.dock_area.views["people"]
    qtbot.waitUntil(lambda: len(chat.findChildren(ChatTurn)) == 4, timeout=30_000)
    qtbot.waitUntil(lambda: people.model.rowCount() == 8, timeout=30_000)  # type: ignore[attr-defined]
    yield window
    for widget in QApplication.topLevelWidgets():
        if isinstance(widget, QMenu | QMessageBox | FaceChip):
            widget.close()
    window.close()


def _not_sure(parent: QWidget, head: str, question: object, more: object, yes: str) -> bool:
    box = plain.box(parent, QMessageBox.Icon.Warning, head, question, more)
    box.addButton(plain.entry(yes), QMessageBox.ButtonRole.DestructiveRole)
    box.show()
    return False


def _no_choice(_parent: object, _title: str, _label: str, rows: list[str], *_more: object) -> tuple[str, bool]:
    assert not [fault for row in rows for fault in wrong_in_tip(row, "choice") if "picture" not in fault]
    return "", False


def hover(widget: QWidget, at: QPoint) -> None:
    """Let a tooltip be asked for at a place, shown and painted."""
    QApplication.sendEvent(widget, QHelpEvent(QEvent.Type.ToolTip, at, widget.mapToGlobal(at)))
    QApplication.processEvents()
    for top in QApplication.topLevelWidgets():
        if top.inherits("QTipLabel") and top.isVisible():
            top.grab()


def look(baits: Baits, window: MainWindow) -> None:
    """Paint everything, and fail where foreign text did more than be read."""
    QApplication.processEvents()
    window.grab()
    for top in QApplication.topLevelWidgets():
        if top.isVisible():
            top.grab()
    assert wrong_on_screen() == []
    assert baits.opened() == []


@pytest.mark.slow
def test_every_dock_shows_a_hostile_memory_as_text(qtbot: QtBot, shown: MainWindow, baits: Baits) -> None:
    for name in shown.docks:
        shown.dock_area.bring_forward(name)
        look(baits, shown)
    for layout in ("live", "people"):
        shown.dock_area.use_layout(layout)
        look(baits, shown)
    assert shown.windowTitle().startswith("[*][*] Ann <img")
    graph = shown.dock_area.views["graph"]
    graph.bar.as_list.setChecked(True)  # type: ignore[attr-defined]
    graph.bar.everything.setChecked(True)  # type: ignore[attr-defined]
    graph._offer("ann")  # type: ignore[attr-defined]
    look(baits, shown)


@pytest.mark.slow
def test_every_item_is_hovered(qtbot: QtBot, shown: MainWindow, baits: Baits) -> None:
    for name in shown.docks:
        shown.dock_area.bring_forward(name)
        QApplication.processEvents()
        dock = shown.docks[name]
        for view in dock.findChildren(QAbstractItemView):
            model = view.model()
            for row in range(min(3, model.rowCount() if model is not None else 0)):
                hover(view.viewport(), view.visualRect(model.index(row, 0)).center())
                assert wrong_on_screen() == []
    graph = shown.dock_area.views["graph"].canvas  # type: ignore[attr-defined]
    shown.dock_area.bring_forward("graph")
    qtbot.waitUntil(lambda: len(graph.at) > 5, timeout=30_000)
    for row in range(5):
        x, y = graph.camera.to_screen(graph.at[row : row + 1])[0]
        hover(graph, QPoint(round(x), round(y)))
    shown.dock_area.bring_forward("timeline")
    canvas = shown.timeline.canvas
    for x in range(5, canvas.width(), 40):
        for y in range(5, canvas.height(), 12):
            qtbot.mouseMove(canvas, QPoint(x, y))
    picture = shown.video.canvas
    for x in range(5, picture.width(), 30):
        qtbot.mouseMove(picture, QPoint(x, picture.height() // 2))
        hover(picture, QPoint(x, picture.height() // 2))
    look(baits, shown)


@pytest.mark.slow
def test_the_inspector_shows_every_kind_of_thing_as_text(qtbot: QtBot, shown: MainWindow, baits: Baits) -> None:
    shown.dock_area.bring_forward("inspector")
    inspector = shown.dock_area.views["inspector"]
    for kind, id_ in (("person", "person_3"), ("observation", "s1.c0.f0"), ("observation", "s1.c0.u1"), ("clip", "s1.c0"), ("source", "s3"),
                      ("source", "s1"), ("node", "m2"), ("node", "k2"), ("node", "n1"), ("node", "o1"), ("node", "nowhere")):  # fmt: skip
        shown.hub.selection.select(kind, id_)
        qtbot.waitUntil(lambda: inspector._found is not None, timeout=30_000)  # type: ignore[attr-defined]
        qtbot.wait(60)
        look(baits, shown)
    assert "nowhere" not in inspector.text.toPlainText()  # type: ignore[attr-defined]


@pytest.mark.slow
def test_a_person_and_the_questions_show_names_and_words_as_text(qtbot: QtBot, shown: MainWindow, baits: Baits) -> None:
    people = shown.dock_area.views["people"]
    shown.dock_area.use_layout("people")
    shown.dock_area.bring_forward("people")
    for person in ("person_3", "person_1"):
        people.open_page(person)  # type: ignore[attr-defined]
        qtbot.waitUntil(lambda who=person: people.page.page is not None and people.page.page.person.id == who, timeout=30_000)  # type: ignore[attr-defined,misc]
        for tab in range(4):
            people.page.tabs.setCurrentIndex(tab)  # type: ignore[attr-defined]
            look(baits, shown)
        qtbot.waitUntil(lambda: people.page.faces.count() > 0, timeout=30_000)  # type: ignore[attr-defined]
        people.page.faces.item(0).setSelected(True)  # type: ignore[attr-defined]
        people.page._face_menu(people.page.faces.visualItemRect(people.page.faces.item(0)).center())  # type: ignore[attr-defined]
        people.page._assign(["s1.c0.f0"])  # type: ignore[attr-defined]
        people.page.merge_wanted.emit(person)  # type: ignore[attr-defined]
        people.page.name.setFocus()  # type: ignore[attr-defined]
        people.page.name.clearFocus()  # type: ignore[attr-defined]
        qtbot.wait(50)
        look(baits, shown)
    assert not shown.hub.desk.called("correct")  # type: ignore[union-attr]  # looking at a name changes nothing
    people.show_questions()  # type: ignore[attr-defined]
    for _ in range(4):
        qtbot.waitUntil(lambda: people.questions.card.shown is not None, timeout=30_000)  # type: ignore[attr-defined]
        qtbot.wait(60)
        look(baits, shown)
        for lists in people.questions.card.lists:  # type: ignore[attr-defined]
            if lists.count():
                hover(lists.viewport(), lists.visualItemRect(lists.item(0)).center())
        people.questions.put_off()  # type: ignore[attr-defined]
    look(baits, shown)


@pytest.mark.slow
def test_menus_and_message_boxes_show_names_as_text(qtbot: QtBot, shown: MainWindow, baits: Baits) -> None:
    people, memories, graph = (shown.dock_area.views[n] for n in ("people", "memories", "graph"))
    for dock in ("people", "memories", "sources", "transcript", "graph"):
        shown.dock_area.bring_forward(dock)
        QApplication.processEvents()
    people._menu(people.list.visualRect(people.model.index(0)).center())  # type: ignore[attr-defined]
    memories._menu(memories.table.visualRect(memories.proxy.index(0, 1)).center())  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: "person_1" in graph.canvas.scene.row_of, timeout=30_000)  # type: ignore[attr-defined]
    graph.commands.open_menu("person_1", QPoint(0, 0))  # type: ignore[attr-defined]
    shown.transcript._menu(QPoint(5, 5))
    shown.sources.actions_menu(shown.sources.model.rows[0]).show()
    config.remember_memory(shown.hub.path)
    Path(shown.hub.path).mkdir()
    shown.actions_._fill_recent()
    look(baits, shown)
    people.ask_merge("person_1", "person_2")  # type: ignore[attr-defined]
    shown.sources.remove(shown.sources.model.rows[0])
    qtbot.waitUntil(lambda: len([w for w in QApplication.topLevelWidgets() if isinstance(w, QMessageBox | BothFaces)]) >= 2, timeout=30_000)
    shown.about()
    look(baits, shown)
    names = [a.text() for w in QApplication.allWidgets() if isinstance(w, QMenu) for a in w.actions()]
    assert any("<img src" in n for n in names), "no menu shows a name"


@pytest.mark.slow
def test_the_chat_shows_questions_rounds_answers_and_errors_as_text(qtbot: QtBot, shown: MainWindow, baits: Baits) -> None:
    chat = shown.dock_area.views["chat"]
    shown.dock_area.bring_forward("chat")
    for row in chat.findChildren(Round):
        row.head.setChecked(True)
    look(baits, shown)
    desk = shown.hub.desk
    assert isinstance(desk, FakeDesk)
    desk.ask = lambda question, **_: "a1"  # type: ignore[method-assign]
    chat.ask(baits.evil("asked"))  # type: ignore[attr-defined]
    evil = baits.evil
    desk.emit(
        events.AskStarted("a1", evil()), events.AskRound("a1", 1, "search", evil(), ("m2",), (evil(),), 0.1), events.AskText("a1", evil())
    )
    qtbot.wait(200)
    look(baits, shown)
    cited = events.Citation(evil(), evil(), 1_000_000, 2_000_000, evil(), evil()[:20])
    desk.emit(events.AskDone("a1", evil(), True, (cited,), evil(), 1.0))
    qtbot.waitUntil(lambda: chat.asking == "", timeout=30_000)  # type: ignore[attr-defined]
    look(baits, shown)
    chat.question._offer("@")  # type: ignore[attr-defined]
    chat.propose(evil())  # type: ignore[attr-defined]
    shown.hub.selection.span.emit("s1", 0, 5_000_000)
    look(baits, shown)


@pytest.mark.slow
def test_notices_status_and_dialogs_show_errors_as_text(
    qtbot: QtBot, shown: MainWindow, baits: Baits, monkeypatch: pytest.MonkeyPatch
) -> None:
    evil, hub, desk = baits.evil, shown.hub, shown.hub.desk
    assert isinstance(desk, FakeDesk)
    hub.correct("name", {"person": "person_1", "name": "Ann"})
    qtbot.wait(100)
    look(baits, shown)
    shown.notices.dismiss()
    for error in (M3DeskError(evil(), evil()), M3DeskError(evil()), ValueError(evil())):
        hub.tell(error)
        look(baits, shown)
        shown.notices.dismiss()
    hub.undo()
    desk.emit(
        events.EngineReady(hub.path, evil(), evil(), {evil(): evil()}, older={"voice": evil()}), events.ModelLoading(evil(), False),
        events.Notice("warning", evil(), evil()),
        events.Downloading(evil(), 1, 10, "working"),
        events.Progress("s1", evil(), evil(), 1, 10, 1.0, 5.0), events.EngineLost(evil(), evil(), True),
        events.SourceChanged("s1", "failed", evil()),
    )  # fmt: skip
    qtbot.wait(100)
    look(baits, shown)
    for dialog in (ModelsDialog(hub, shown), SettingsDialog(hub, shown)):
        dialog.show()
        qtbot.wait(60)
        look(baits, shown)
        (dialog._failed if isinstance(dialog, ModelsDialog) else dialog._complain)(M3DeskError(evil(), evil()))
        if isinstance(dialog, ModelsDialog):
            desk.emit(events.Downloading(next(iter(dialog.rows)), 1, 2, "failed", evil()))
            dialog._ask_remove(next(iter(dialog.rows)))
        qtbot.wait(60)
        look(baits, shown)
        dialog.close()
    shown.close_memory()
    config.remember_memory(shown.start.accessibleName() or hub.path or "/x")
    shown.start._show_recent([(f"/memories/{evil()}.m3desk", None)])
    shown.start.machine_unknown(M3DeskError(evil()))
    shown.start.show_machine({"cpu": evil(), "gpus": [{"name": evil()}], "profiles": [{"name": evil(), "ready": False, "reason": evil()}]})
    look(baits, shown)
    hover(shown.start.recent.viewport(), shown.start.recent.visualItemRect(shown.start.recent.item(0)).center())
    look(baits, shown)


@pytest.mark.slow
def test_faces_and_speakers_are_named_in_plain_text(qtbot: QtBot, shown: MainWindow, baits: Baits) -> None:
    for speech in (False, True):
        for name in (baits.evil(), "W" * 5000):
            chip = FaceChip(shown.hub, "s1.c0.f0", "person_1", name, speech=speech, parent=shown)
            chip.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
            chip.open_at(QPoint(10, 10))
            qtbot.waitUntil(lambda c=chip: c.edit.completer() is not None, timeout=30_000)  # type: ignore[misc]
            assert list(wrong_in_model(chip.edit.completer().model(), "people")) == []
            assert chip.width() < 900
            look(baits, shown)
            chip.close()


def test_long_names_do_not_make_the_window_wider(qtbot: QtBot, shown: MainWindow) -> None:
    shown.dock_area.use_layout("explore")
    shown.dock_area.views["people"].show_questions()  # type: ignore[attr-defined]
    qtbot.wait(300)
    for name, dock in shown.docks.items():
        assert dock.widget().minimumSizeHint().width() < 560, name
    assert shown.minimumSizeHint().width() < 1250


# ---------------------------------------------------------------- that it stays so

UI = Path(m3desk_ui.__file__).parent
BANNED = {
    "QLabel": "plain.Label",
    "QTextBrowser": "plain.Page",
    "QTextEdit": "plain.Page",
    "QPlainTextEdit": "plain.edited",
    "QTextDocument": "plain.Page",
    "QToolTip": "plain.show_tip",
    "QErrorMessage": "plain.box",
    "QInputDialog": "plain.edited or PersonPicker",
    "QWhatsThis": "plain.tip",
    "QGraphicsTextItem": "plain.Label",
    "setToolTip": "plain.tip",
    "setHtml": "Page.show_html",
    "insertHtml": "Page.show_html",
    "setMarkdown": "Page.show_html",
    "setStatusTip": "nothing",
    "setWhatsThis": "nothing",
    "setTextFormat": "plain.Label",
    "escape": "plain.html",
    "convertFromPlainText": "plain.html",
    "setOpenExternalLinks": "nothing",
    "openUrl": "nothing",
    "getSaveFileName": "files.where_to_write",
    "setDetailedText": "plain.box",
    "setInformativeText": "plain.box",
}
ALLOWED = {
    ("files.py", "getSaveFileName"),  # asks itself before it overwrites
    ("labels.py", "setTextFormat"),  # of a QStaticText, to plain text
    ("saving.py", "escape"),  # into files: SVG and GraphML
}
TITLED = {"addAction", "addMenu", "QAction", "QPushButton", "DangerButton",
          "QCheckBox", "QRadioButton", "QGroupBox", "QDockWidget", "setWindowTitle",
          "addTab", "setTabText", "addButton", "addItem", "setAccessibleName", "setAccessibleDescription",
          "setPlaceholderText"}  # fmt: skip


def test_no_view_puts_text_on_the_screen_around_the_module() -> None:
    found = []
    for file in sorted(UI.rglob("*.py")):
        if file.name == "plain.py":
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
            if ast.unparse(node) == "re.escape":  # of a pattern: nothing on the screen
                continue
            if name in BANNED and (file.name, name) not in ALLOWED:
                found.append(f"{file.name}:{node.lineno}: {name}: use {BANNED[name]}")  # type: ignore[attr-defined]
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "QMessageBox":
                found.append(f"{file.name}:{node.lineno}: QMessageBox: use plain.box")
    assert found == []


def test_what_is_put_together_for_an_entry_or_a_title_goes_through_the_module() -> None:
    """Texts of ours may stand alone; what holds anything else may not."""
    found = []
    for file in sorted(UI.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if not isinstance(node, ast.Call) or file.name == "plain.py":
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in TITLED and node.args and _put_together(node.args[0]):
                found.append(f"{file.name}:{node.lineno}: {name}({ast.unparse(node.args[0])})")
    assert found == []


def _put_together(text: ast.expr) -> bool:
    if isinstance(text, ast.JoinedStr):
        return not all(isinstance(v, ast.Constant) or ast.unparse(v.value) in ("x:g", "x") for v in text.values)  # type: ignore[attr-defined]
    if isinstance(text, ast.IfExp):
        return _put_together(text.body) or _put_together(text.orelse)
    if isinstance(text, ast.BinOp):
        return True
    if isinstance(text, ast.Attribute):
        return text.attr in ("shown", "name", "text", "label", "uri", "words", "content", "error")
    return isinstance(text, ast.Call) and isinstance(text.func, ast.Attribute) and text.func.attr in ("replace", "format", "join")
