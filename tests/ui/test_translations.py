"""The Chinese translation has exactly the texts of the window, and the compiled file is made from it."""

from __future__ import annotations

import ast
import re
import xml.etree.ElementTree as ET
from pathlib import Path

from m3desk_ui import launch
from PySide6.QtCore import QFileInfo, QTranslator
from PySide6.QtGui import QAbstractFileIconProvider
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel
from pytestqt.qtbot import QtBot

ROOT = Path(__file__).parents[2]
CATALOGUE = ROOT / "resources" / "translations" / "m3desk_zh_CN.ts"


def _in_code() -> set[str]:
    """Return the literal texts that the window's code passes to `tr` and `translate`."""
    texts: set[str] = set()
    for path in (ROOT / "ui").rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(call, ast.Call):
                continue
            name = getattr(call.func, "attr", getattr(call.func, "id", ""))
            which = {"tr": 0, "translate": 1}.get(name)
            if which is None or len(call.args) <= which:
                continue
            if which == 1 and isinstance(call.args[0], ast.Constant) and str(call.args[0].value).startswith("Q"):
                continue  # Qt's own texts, which Qt's own catalogue translates
            text = call.args[which]
            if isinstance(text, ast.Constant) and isinstance(text.value, str):
                texts.add(text.value)
    return texts


def _in_catalogue() -> dict[tuple[str, str], str]:
    found = {}
    for context in ET.parse(CATALOGUE).getroot().findall("context"):
        for message in context.findall("message"):
            found[context.findtext("name") or "", message.findtext("source") or ""] = message.findtext("translation") or ""
    return found


def test_every_text_of_the_window_is_in_the_catalogue() -> None:
    assert _in_code() - {source for _, source in _in_catalogue()} == set()


def test_the_catalogue_has_no_text_that_the_window_lost() -> None:
    literals: set[str] = set()
    for path in (ROOT / "ui").rglob("*.py"):
        literals |= {
            node.value
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
    assert {source for _, source in _in_catalogue()} - literals == set()


def test_the_compiled_file_gives_the_catalogues_translations() -> None:
    compiled = QTranslator()
    assert compiled.load(str(CATALOGUE.with_suffix(".qm")))
    wrong = {key: text for key, text in _in_catalogue().items() if compiled.translate(*key) != text}
    assert wrong == {}


def test_the_file_dialog_speaks_chinese(qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> None:
    launch.use_language(qapp, "zh")
    try:
        dialog = QFileDialog()
        qtbot.addWidget(dialog)
        dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
        words = "".join(label.text() for label in dialog.findChildren(QLabel)).replace("&", "")
        kind = QAbstractFileIconProvider().type(QFileInfo(str(tmp_path)))
    finally:
        launch.use_language(qapp, "en")
    assert words and not any(len(part) > 1 for part in re.findall("[A-Za-z]+", words)), words
    assert kind == "文件夹"
