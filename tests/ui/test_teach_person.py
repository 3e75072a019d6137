"""A person is taught from photos and recordings; what went wrong is said in the dialog, and the files stay."""

from __future__ import annotations

from pathlib import Path

import pytest
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.look import plain
from m3desk_ui.people.teach_person import TeachPerson
from m3desk_ui.video.face_chip import FaceChip
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from m3desk.errors import SourceUnreadable
from tests.ui.fakes import FakeDesk, World


@pytest.fixture
def dialog(qtbot: QtBot, hub: Hub, world: World) -> TeachPerson:
    parent = QWidget()
    qtbot.addWidget(parent)
    made = TeachPerson(hub, next(p for p in world.people if p.id == "person_1"), parent)
    made.keep = parent  # type: ignore[attr-defined]
    made.show()
    return made


def test_it_needs_a_name_and_a_file(dialog: TeachPerson) -> None:
    assert dialog.name.text() == "Ann" and not dialog.teach.isEnabled()
    dialog.put(["/photos/ann.jpg"])
    assert dialog.teach.isEnabled()
    dialog.name.clear()
    assert not dialog.teach.isEnabled()


def test_files_are_chosen_dropped_and_taken_out(dialog: TeachPerson, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: (["/photos/ann.jpg"], ""))
    dialog.add.click()
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/sound/ann.wav"), QUrl.fromLocalFile("/photos/ann.jpg")])
    drop = QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    dialog.dropEvent(drop)
    assert dialog.paths() == ["/photos/ann.jpg", "/sound/ann.wav"]
    dialog.files.setCurrentRow(0)
    dialog.files.setFocus()
    QTest.keyClick(dialog.files, Qt.Key.Key_Delete)
    assert dialog.paths() == ["/sound/ann.wav"]


def test_it_teaches_and_offers_undo(dialog: TeachPerson, hub: Hub, desk: FakeDesk, qtbot: QtBot) -> None:
    dialog.put(["/photos/ann.jpg"])
    with qtbot.waitSignal(hub.offer) as told:
        dialog.teach.click()
    assert desk.called("correct")[-1][0] == ("enroll", {"name": "Ann", "files": ["/photos/ann.jpg"]})
    assert told.args[1] == "undo"
    qtbot.waitUntil(lambda: not isValid(dialog) or not dialog.isVisible(), timeout=30_000)


def test_what_went_wrong_is_said_and_the_files_stay(dialog: TeachPerson, desk: FakeDesk, qtbot: QtBot) -> None:
    desk.fail["enroll"] = SourceUnreadable("there are 2 faces in group.jpg.", "Cut it to the one face.")
    dialog.put(["/photos/group.jpg"])
    dialog.teach.click()
    qtbot.waitUntil(lambda: dialog.said.isVisible(), timeout=30_000)
    assert "2 faces" in dialog.said.text() and dialog.paths() == ["/photos/group.jpg"] and dialog.teach.isEnabled()


def test_it_tells_how_a_face_of_the_video_is_named_in_the_words_of_its_popup(hub: Hub, qtbot: QtBot) -> None:
    dialog, chip = TeachPerson(hub, None), FaceChip(hub, "s1.c0.f0", None, "")
    qtbot.addWidget(dialog)
    qtbot.addWidget(chip)
    told = " ".join(label.text() for label in dialog.findChildren(plain.Label))
    assert f"click them there and choose “{chip.ok.text()}”." in told
