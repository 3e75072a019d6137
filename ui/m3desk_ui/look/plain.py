"""Shows foreign text (names, words, file names, answers, errors) as plain text only, never as markup.

Qt guesses the format: a label, tooltip or message box whose text looks like HTML is shown as HTML, and an image in it opens a file.
`&` in a menu or on a button is a mnemonic, `[*]` in a window's title is left out, a tab in a menu begins a shortcut. So every view
puts foreign text on the screen by this module (tests/ui/test_plain_text.py looks that none goes around it).
"""

from __future__ import annotations

import re
import unicodedata
from html import escape
from typing import Any
from urllib.parse import quote

from PySide6.QtCore import QCoreApplication, QEvent, QMimeData, QPoint, QPointF, QRect, QSize, Qt, QUrl
from PySide6.QtGui import (
    QAction,
    QContextMenuEvent,
    QGuiApplication,
    QHelpEvent,
    QImage,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPixmap,
    QResizeEvent,
    QShortcut,
    QStandardItem,
    QTextDocument,
)
from PySide6.QtWidgets import (
    QDialog,
    QInputDialog,
    QLabel,
    QListWidgetItem,
    QMenu,
    QMessageBox,
    QPlainTextEdit,
    QTextBrowser,
    QToolTip,
    QWidget,
)

from m3desk_ui.look.danger_button import DangerButton
from m3desk_ui.look.growing_text import GrowingText

ENTRY, LINE, PARAGRAPH, TIP = 60, 240, 20_000, 1200
"""Code points shown at most: of a menu entry or a button, of a line, of a text that wraps, of a tooltip."""
WORD = 40
"""A longer word may be broken: one label must not make the window as wide as its longest word."""
STEADY = 320
"""Pixels up to which a `Count` keeps its width: a longer one is cut rather than making the window wider."""
ANY_SIZE = (1 << 24) - 1
NARROWEST = 240
"""Pixels: no label asks for more than this, whatever it says."""
FEWEST = 6
"""Letters for which a `Brief` asks."""
_BAD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u206f\ufdd0-\ufdef\ufff9-\ufffc\ufffe\uffff\ud800-\udfff]")
"""Control characters, those that change the direction of what follows, those that Qt's texts use for themselves, halves of pairs.

Where `domain.visible` writes them out for a terminal, here each has a sign of its own, so that places in a text stay.
"""
_BREAKS = re.compile("\r\n|[\r\u2028\u2029\x0b\x0c\x85]")
_SPACES = re.compile(r"\s+")
_LONG = re.compile(rf"[^\s\u2e80-\uffdc\U00020000-\U0003ffff]{{{WORD + 1},}}")
_ANY_TAG = re.compile(r"<[^<>]*>?")
_STYLE = r"""style=(?:"[\w\s:;#.,%-]*"|'[\w\s:;#.,%-]*')"""
_HREF = r"""href=(?:"(?:m3://[^"<>]*|[a-z]+)"|'[a-z]+')"""
_OURS = re.compile(
    rf"</?(?:a|b|br|h4|i|p|span|table|td|tr)>|<(?:a|b|i|p|span|td)(?: {_STYLE})?(?: {_HREF})?(?: {_STYLE})?>|<table cellspacing='0'>"
)
"""The HTML that the program itself writes: no tag that loads anything, no address but its own."""
_PICTURE = re.compile(r"""<img src="picture:[\w.%~-]*" width="\d+" height="\d+">""")


def _sign(hit: re.Match[str]) -> str:
    """Return a visible sign for a control character: ␛ for escape, � for those without a sign of their own."""
    code = ord(hit.group())
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else "\N{REPLACEMENT CHARACTER}"


def visible(foreign: str) -> str:
    """Return text with a visible sign in place of each character that would act instead of being read; as long as before."""
    return _BAD.sub(_sign, foreign) if _BAD.search(foreign) else foreign


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def paragraph(foreign: object, most: int = PARAGRAPH) -> str:
    """Return text that may have several lines: nothing in it acts, and it is at most `most` code points long."""
    whole = str(foreign)[: most + 1]
    return _cut(visible(_BREAKS.sub("\n", whole)), most)


def line(foreign: object, most: int = LINE) -> str:
    """Return text in one line."""
    return _cut(visible(_SPACES.sub(" ", str(foreign)[: 4 * most])).strip(), most)


def entry(foreign: object, most: int = ENTRY) -> str:
    """Return the text of a menu entry, button, tab or check box, with no mnemonic in it."""
    return line(foreign, most).replace("&", "&&")


def title(foreign: object) -> str:
    """Return the title of a window, in which Qt has a meaning for [*]."""
    return line(foreign, 120).replace("[*]", "[*][*]")


def breakable(shown: str) -> str:
    """Return text in which words without end may be broken (by zero width spaces)."""
    return _LONG.sub(lambda hit: _broken(hit.group()), shown) if _LONG.search(shown) else shown


def unbroken(copied: str) -> str:
    """Return copied text without the places at which `breakable` let it be broken: a path that is pasted is the path."""
    return copied.replace("\N{ZERO WIDTH SPACE}", "").replace("\u2029", "\n").replace("\u2028", "\n")


def _broken(word: str) -> str:
    parts, start = [], 0
    while len(word) - start > WORD:
        end = start + WORD
        while end < len(word) and end < start + 2 * WORD and _joined(word[end - 1], word[end]):
            end += 1
        parts.append(word[start:end])
        start = end
    return "\N{ZERO WIDTH SPACE}".join((*parts, word[start:]))


def _joined(before: str, after: str) -> bool:
    """Return whether two characters form one (an accent, parts of one emoji)."""
    return unicodedata.category(before) == "Cf" or unicodedata.category(after) in ("Mn", "Mc", "Me", "Cf", "Sk")


def html(foreign: object, most: int = PARAGRAPH) -> str:
    """Return foreign text as it may stand in HTML that the program writes, between tags or in an attribute."""
    return escape(breakable(paragraph(foreign, most))).replace("\n", "<br>")


def ours(written: str, *, pictures: bool = False) -> str:
    """Return HTML in which every tag that the program does not write is text: a foreign part that came unescaped does nothing."""

    def keep(hit: re.Match[str]) -> str:
        tag = hit.group()
        return tag if _OURS.fullmatch(tag) or (pictures and _PICTURE.fullmatch(tag)) else escape(tag)

    return _ANY_TAG.sub(keep, written)


# ---------------------------------------------------------------- tooltips


def tip_text(foreign: object) -> str:
    """Return what a tooltip is given so that it shows this text: a long one wraps, and none is taken for HTML."""
    shown = paragraph(foreign, TIP)
    if "<" not in shown and "&" not in shown and max(map(len, shown.split("\n"))) <= LINE // 3:
        return shown
    return f"<p>{html(shown)}</p>"


def tip(of: QWidget | QAction | QListWidgetItem | QStandardItem, foreign: object) -> None:
    """Give a widget, action or item a tooltip."""
    shown = tip_text(foreign)
    of.setToolTip(shown)
    if isinstance(of, QWidget) and shown.startswith("<p>"):
        of.setAccessibleDescription(paragraph(foreign, TIP))  # else a screen reader is given the tooltip with its tags


def show_tip(where: QPoint, foreign: object, widget: QWidget, area: QRect | None = None) -> None:
    """Show a tooltip now; an empty text hides it."""
    QToolTip.showText(where, tip_text(foreign) if foreign else "", widget, area if area is not None else QRect())


# ---------------------------------------------------------------- labels


class _Copied(QLabel):
    """A label whose selected text is copied as it was given, by the keyboard and by its menu."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy) and self.hasSelectedText():
            self._copy()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if not self.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse:
            super().contextMenuEvent(event)
            return
        menu = QMenu(self)  # the words are those of Qt's own menu, in whose place it stands
        copy = menu.addAction(QCoreApplication.translate("QWidgetTextControl", "&Copy"), self._copy)
        copy.setEnabled(self.hasSelectedText())
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(event.globalPos())

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(unbroken(self.selectedText()))


class Label(_Copied):
    """A label of plain text. It wraps or is cut rather than making the window wider."""

    def __init__(self, foreign: object = "", parent: QWidget | None = None, *, most: int = PARAGRAPH) -> None:
        super().__init__(parent)
        self.most = most
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(foreign)

    def setText(self, foreign: object) -> None:
        super().setText(breakable(paragraph(foreign, self.most)))

    def minimumSizeHint(self) -> QSize:
        return super().minimumSizeHint().boundedTo(QSize(NARROWEST, 1 << 20))


class Brief(Label):
    """A label of one line that gives way to its neighbours: cut, it ends in “…”, and its tooltip begins with the whole text."""

    def minimumSizeHint(self) -> QSize:
        return super().minimumSizeHint().boundedTo(QSize(self.fontMetrics().horizontalAdvance("x" * FEWEST), 1 << 20))

    def is_cut(self) -> bool:
        return self.fontMetrics().horizontalAdvance(self.text()) > self.contentsRect().width()

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self.is_cut():
            super().paintEvent(event)
            return
        room = self.contentsRect()
        shown = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, room.width())
        self.style().drawItemText(
            QPainter(self), room, int(self.alignment()), self.palette(), self.isEnabled(), shown, self.foregroundRole()
        )

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip and self.is_cut():
            more = self.toolTip()
            rest = more if more.startswith("<p>") or not more else f"<p>{html(more)}</p>"
            QToolTip.showText(event.globalPos(), f"<p>{html(self.text())}</p>{rest}", self)
            return True
        return super().event(event)


class Count(Brief):
    """A label of a number or a short text that changes often: it grows where it must, else the window is not laid out again."""

    def setText(self, foreign: object) -> None:
        super().setText(foreign)
        need, fixed = self.sizeHint(), self.minimumSize() == self.maximumSize()
        if need.width() > STEADY:
            self.setMinimumSize(NARROWEST, 0)
            self.setMaximumSize(ANY_SIZE, ANY_SIZE)
        elif not fixed or need.width() > self.width() or need.height() > self.height():
            self.setFixedSize(need)


class RichLabel(_Copied):
    """A label of HTML that the program wrote; foreign parts came through `html`. It loads nothing and opens no address."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setOpenExternalLinks(False)

    def setText(self, written: str) -> None:
        super().setText(ours(written))

    def say(self, foreign: object) -> None:
        """Show plain text."""
        self.setText(html(foreign))

    def minimumSizeHint(self) -> QSize:
        return super().minimumSizeHint().boundedTo(QSize(NARROWEST, 1 << 20))


class Stream(RichLabel):
    """A wrapped label that is given a longer text many times a second: Qt lays a text out anew for each size that it is asked for.

    So it asks for the width that it has, and a height is computed once for each text. What grows (`grow`) is laid out at its end only.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWordWrap(True)
        self.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)  # where what grows stands, too; Qt's is the middle
        self._heights: dict[int, int] = {}
        self._told: str | None = None
        self._growing: dict[int, GrowingText] = {}
        """By width: a layout asks for the height of several."""

    def setText(self, written: str) -> None:
        if self._told is not None:
            self._told = None
            self._growing.clear()
            self.setTextFormat(Qt.TextFormat.RichText)
            self.setAccessibleName("")
            self.update()
        self._heights.clear()
        super().setText(written)

    def text(self) -> str:
        return super().text() if self._told is None else self._told

    def grow(self, foreign: object) -> None:
        """Show plain text that begins with what is shown already. It can be selected once `setText` or `say` has shown it all."""
        if self._told is None:
            super().setText("")
            self.setTextFormat(Qt.TextFormat.PlainText)
            self._heights.clear()
            self.update()
        self._told = breakable(paragraph(foreign))
        self.setAccessibleName(self._told)
        growing = self._lines()
        before = growing.height()
        first = growing.take(self._told)
        if growing.height() != before:
            self.updateGeometry()
        self.update(self.rect().adjusted(0, self.contentsRect().top() + growing.top(first), 0, 0))

    def _lines(self, width: int | None = None) -> GrowingText:
        """Return the lines at a width of the text, of now by default."""
        width = self.contentsRect().width() if width is None else width
        if width not in self._growing:
            self._growing[width] = GrowingText(self.font(), width)
        return self._growing[width]

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._told is None:
            super().paintEvent(event)
            return
        growing = self._lines()
        growing.take(self._told)
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        growing.paint(painter, QPointF(self.contentsRect().topLeft()), event.rect())

    def resizeEvent(self, event: QResizeEvent) -> None:
        if event.size().width() != event.oldSize().width():  # each new line makes it higher
            self._growing.clear()
        super().resizeEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._heights.clear()
            self._growing.clear()
        super().changeEvent(event)

    def heightForWidth(self, width: int) -> int:
        if self._told is not None:
            growing = self._lines(width - self.width() + self.contentsRect().width())
            growing.take(self._told)
            return growing.height() + self.height() - self.contentsRect().height()
        if width not in self._heights:
            self._heights[width] = super().heightForWidth(width)
        return self._heights[width]

    def sizeHint(self) -> QSize:
        return QSize(self.width(), self.heightForWidth(self.width()))

    def minimumSizeHint(self) -> QSize:
        return QSize(min(NARROWEST // 2, self.width()), self.fontMetrics().height())


class _Document(QTextDocument):
    """A text that loads nothing: its pictures are given to it (`addResource`), all else is an empty picture."""

    def loadResource(self, type_: int, name: QUrl | str) -> Any:
        refused = QImage(1, 1, QImage.Format.Format_ARGB32)  # a null answer would let Qt open the file by itself
        refused.fill(Qt.GlobalColor.transparent)
        return refused


class Page(QTextBrowser):
    """A page of HTML that the program wrote. Links are told by `anchorClicked` and never opened; nothing is loaded."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setOpenLinks(False)
        self.setOpenExternalLinks(False)
        self._document = _Document(self)
        self.setDocument(self._document)

    def createMimeDataFromSelection(self) -> QMimeData:
        data = super().createMimeDataFromSelection()
        data.setText(unbroken(data.text()))
        if data.hasHtml():
            data.setHtml(unbroken(data.html()))
        return data

    def show_html(self, written: str) -> None:
        """Show HTML that the program wrote."""
        self.setHtml(ours(written, pictures=True))

    def picture(self, media: str, picture: QPixmap, width: int, height: int) -> str:
        """Give the page a stored picture, and return the HTML that shows it."""
        name = "picture:" + quote(media, safe="")
        self._document.addResource(QTextDocument.ResourceType.ImageResource, QUrl(name), picture)
        return f'<img src="{name}" width="{width}" height="{height}">'


# ---------------------------------------------------------------- questions to the user


def box(parent: QWidget, icon: QMessageBox.Icon, head: str, question: object, more: object = "") -> QMessageBox:
    """Return a message box to add buttons to (their texts through `entry`) and to open."""
    made = QMessageBox(icon, title(head), "", QMessageBox.StandardButton.NoButton, parent)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setText(breakable(paragraph(question, 2 * LINE)))
    if more:
        made.setInformativeText(breakable(paragraph(more, 4 * LINE)))
    return made


def sure(parent: QWidget, head: str, question: object, more: object, yes: str) -> bool:
    """Ask for confirmation before something is lost; return the answer. Enter and Escape mean Cancel."""
    asked = box(parent, QMessageBox.Icon.Warning, head, question, more)
    go = DangerButton(entry(yes))
    asked.addButton(go, QMessageBox.ButtonRole.DestructiveRole)
    asked.setDefaultButton(asked.addButton(QMessageBox.StandardButton.Cancel))
    asked.exec()
    return asked.clickedButton() is go


def written(parent: QWidget, head: str, question: str) -> str | None:
    """Let the user write a text, which may be empty; None if cancelled."""
    now = _typed(parent, head, question, "")
    return None if now is None else now.strip()


def edited(parent: QWidget, head: str, question: str, before: str, *, may_be_empty: bool = False) -> str | None:
    """Let the user edit a text; None if cancelled or unchanged, and if emptied, unless it `may_be_empty`."""
    shown = paragraph(before, len(before) + 1)
    now = _typed(parent, head, question, shown)
    return now.strip() if now is not None and (may_be_empty or now.strip()) and now.strip() != shown.strip() else None


def _typed(parent: QWidget, head: str, question: str, before: str) -> str | None:
    """Let the user type lines; None if cancelled. Enter begins a line and Ctrl+Enter is OK; Tab leaves the text, which Qt's would keep."""
    asked = QInputDialog(parent)
    asked.setOption(QInputDialog.InputDialogOption.UsePlainTextEditForTextInput)
    asked.setWindowTitle(title(head))
    asked.setLabelText(question)
    asked.setTextValue(before)
    text = asked.findChild(QPlainTextEdit)
    assert text is not None
    text.setTabChangesFocus(True)
    for keys in ("Ctrl+Return", "Ctrl+Enter"):
        QShortcut(QKeySequence(keys), asked, asked.accept)
    return asked.textValue() if asked.exec() == QDialog.DialogCode.Accepted else None
