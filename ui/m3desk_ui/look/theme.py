"""Colours, palette and style sheet of the window, light and dark; views take all colours from here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication, QStyleFactory

from m3desk import paths
from m3desk.domain.ids import numbered


@dataclass(frozen=True, slots=True)
class Colours:
    """Colour names as Qt reads them. `people`: a dozen hues told apart by colour-blind eyes (after Paul Tol's bright and muted sets)."""

    dark: bool
    window: str
    surface: str
    raised: str
    line: str
    text: str
    muted: str
    accent: str
    on_accent: str
    link: str
    good: str
    warn: str
    bad: str
    kinds: dict[str, str]
    people: tuple[str, ...]


LIGHT = Colours(
    False,
    "#f3f4f6",
    "#ffffff",
    "#e9ebef",
    "#d3d7de",
    "#1b1f27",
    "#5d6573",
    "#2761c4",
    "#ffffff",
    "#1d5fd0",
    "#167039",
    "#8f5400",
    "#c62f3b",
    {
        "face": "#4477aa",
        "voice": "#228833",
        "episodic": "#b8860b",
        "semantic": "#aa3377",
        "object": "#7a6a58",
        "place": "#2a8fa8",
        "person": "#4477aa",
        "clip": "#5b6b7d",
        "topic": "#8a5a9e",
    },
    ("#4477aa", "#cc6677", "#228833", "#b8860b", "#2a8fa8", "#aa3377", "#7a6a58", "#882255", "#44aa99", "#6f5bd0", "#999933", "#d0682a"),
)
DARK = Colours(
    True,
    "#1b1e24",
    "#22262e",
    "#2c313b",
    "#3b414d",
    "#e8eaee",
    "#9aa3b2",
    "#6a9df7",
    "#0d1117",
    "#7fb0ff",
    "#4cc27a",
    "#e5a443",
    "#f0727c",
    {
        "face": "#66a3e0",
        "voice": "#5cc06b",
        "episodic": "#e3b341",
        "semantic": "#e070b0",
        "object": "#b8a48c",
        "place": "#66ccee",
        "person": "#66a3e0",
        "clip": "#8fa3b8",
        "topic": "#c49ad8",
    },
    ("#66a3e0", "#ee8899", "#5cc06b", "#e3b341", "#66ccee", "#e070b0", "#b8a48c", "#c06a9c", "#62cbb8", "#a594ff", "#c7c75a", "#f0935a"),
)

LEAST_CONTRAST = 4.5
"""Of text and its background (WCAG 2.2, level AA)."""

LIGHTER, DARKER = 135, 150
"""Percent, as QColor has it."""

_now = LIGHT


def colours() -> Colours:
    """Return the current colours."""
    return _now


def kind_colour(kind: str) -> QColor:
    """Return the colour of a node type (shapes differ too, so colour is never all that tells kinds apart)."""
    return QColor(_now.kinds.get(kind, _now.muted))


def person_colour(person: str | None) -> QColor:
    """Return the colour of a person (`person_3`), the same in every view; grey for nobody.

    There are a dozen hues; the next dozen people have them lighter, those after them darker, so that two in one picture differ.
    """
    return people_colours()[person_place(person)] if person else QColor(_now.muted)


def people_colours() -> tuple[QColor, ...]:
    """Return the colours that people have, by `person_place`."""
    return _shades(_now.people)


@lru_cache(maxsize=2)
def _shades(people: tuple[str, ...]) -> tuple[QColor, ...]:
    hues = [QColor(hue) for hue in people]
    return (*hues, *(hue.lighter(LIGHTER) for hue in hues), *(hue.darker(DARKER) for hue in hues))


def contrast(one: QColor, other: QColor) -> float:
    """Return the contrast of two colours, 1 to 21 (WCAG 2.2, contrast ratio)."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: QColor) -> float:
    parts = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (colour.redF(), colour.greenF(), colour.blueF()))
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


def readable(colour: QColor) -> QColor:
    """Return a colour as text has it: of the same hue, darker (in the dark theme lighter) until it can be read on every background."""
    grounds = [QColor(ground) for ground in (_now.window, _now.surface, _now.raised)]
    hue, saturation, lightness = colour.hslHueF(), colour.hslSaturationF(), colour.lightnessF()
    while min(contrast(colour, ground) for ground in grounds) < LEAST_CONTRAST and 0 < lightness < 1:
        lightness = min(1.0, max(0.0, lightness + (0.02 if _now.dark else -0.02)))
        colour = QColor.fromHslF(max(0.0, hue), saturation, lightness)
    return colour


def person_place(person: str) -> int:
    """Return the place of a person's colour among those of people."""
    return (numbered(person) - 1) % (3 * len(_now.people))


def system_is_dark() -> bool:
    """Return whether the desktop prefers dark; False if unknown."""
    from PySide6.QtCore import Qt

    app = QApplication.instance()
    if isinstance(app, QApplication):
        return app.styleHints().colorScheme() == Qt.ColorScheme.Dark
    return False


def palette(c: Colours) -> QPalette:
    """Return a Fusion palette in our colours. (setColorScheme does nothing under Xvfb, and Qt's own Link is unreadable on dark.)"""
    p = QPalette()
    role = QPalette.ColorRole
    for r, colour in (
        (role.Window, c.window),
        (role.WindowText, c.text),
        (role.Base, c.surface),
        (role.AlternateBase, c.window),
        (role.Text, c.text),
        (role.Button, c.raised),
        (role.ButtonText, c.text),
        (role.BrightText, c.bad),
        (role.Highlight, c.accent),
        (role.HighlightedText, c.on_accent),
        (role.Link, c.link),
        (role.LinkVisited, c.link),
        (role.ToolTipBase, c.raised),
        (role.ToolTipText, c.text),
        (role.PlaceholderText, c.muted),
        (role.Light, c.raised),
        (role.Midlight, c.raised),
        (role.Mid, c.line),
        (role.Dark, c.line),
        (role.Shadow, "#000000"),
        (role.Accent, c.accent),
    ):
        p.setColor(r, QColor(colour))
    for r in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText):
        p.setColor(QPalette.ColorGroup.Disabled, r, QColor(c.muted))
    p.setColor(QPalette.ColorGroup.Disabled, role.Highlight, QColor(c.line))
    return p


def apply(app: QApplication, wanted: str = "system") -> None:
    """Apply "light", "dark" or the system's theme to the whole app."""
    global _now
    _now = DARK if wanted == "dark" or (wanted == "system" and system_is_dark()) else LIGHT
    app.setStyle(QStyleFactory.create("Fusion"))
    app.setPalette(palette(_now))
    sheet = (paths.resources() / "style.qss").read_text(encoding="utf-8")
    sheet = sheet.replace("@icons", (paths.resources() / "icons").as_posix()).replace("@mode", "dark" if _now.dark else "light")
    fields = ("window", "surface", "raised", "line", "text", "muted", "accent", "on_accent", "link", "good", "warn", "bad")
    for name in sorted(fields, key=len, reverse=True):
        sheet = sheet.replace(f"@{name}", getattr(_now, name))
    app.setStyleSheet(sheet)


def icon(name: str, colour: str | None = None):  # type: ignore[no-untyped-def]
    """Return an icon of qtawesome ("mdi6.play") in the theme's colours."""
    import qtawesome

    return qtawesome.icon(name, color=colour or _now.text, color_disabled=_now.line)
