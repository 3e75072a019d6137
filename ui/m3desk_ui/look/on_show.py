"""Whether a widget can be seen: Qt calls one visible that lies in a dock behind another."""

from __future__ import annotations

from PySide6.QtCore import QRect
from PySide6.QtWidgets import QWidget


def is_on_show(widget: QWidget) -> bool:
    """Return whether any of a widget can be seen: it is neither hidden nor behind another dock, nor outside of its window."""
    return not widget.visibleRegion().isEmpty()


def seen_part(widget: QWidget) -> QRect:
    """Return the rectangle of a widget that can be seen, in its own coordinates: a list in a scroll area may be cut."""
    return widget.visibleRegion().boundingRect()
