"""Determines a file's length: the declared length, checked against the packets that are there.

A header can declare any length, and one damaged time stamp puts a packet years ahead. The declared length is accepted if the file's size
fits it; else all packets are read. Screen recordings and still pictures with a few bytes per second are valid films.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from m3desk.domain.clip import MICROSECOND, clock
from m3desk.media.streams import Kind, OpenContainer, frame_step

THICK = 1_000
"""Bytes a second from which a declared length is believed: the thinnest speech codecs in use have 600, films 20,000 and more."""

THIN = 5 * MICROSECOND
"""Time that a byte can stand for: a still picture repeated every 10 s has 2 to 10 bytes a second, slides every 10 minutes 0.2."""

GAP = 3600 * MICROSECOND
"""Time without any packet from which a packet's time is damage, in files below `THICK`."""

TAIL = 60 * MICROSECOND
"""Time past the last packet that is believed where no gap within the file was longer."""

LONGEST = 31 * 24 * 3600 * MICROSECOND
"""No file is longer: 89,280 clips of 30 s."""

_SLOT = 60 * MICROSECOND

# These carry no index and FFmpeg guesses their length from the first packets' bit rate: their packets are counted instead.
_GUESSED_LENGTH = frozenset({"aac", "ac3", "eac3", "amr", "dts", "h264", "hevc", "m4v", "mp3", "mpegvideo"})


@dataclass(frozen=True, slots=True)
class Length:
    """A file's length in microseconds: the declared one and the one found (usually equal)."""

    declared: int
    there: int

    def told(self, name: str) -> str | None:
        """Return a warning for the user if a file declares much more than it holds, else None."""
        if self.declared <= self.there:
            return None
        return f"{name} declares a length of {spelled(self.declared)}, but holds only {spelled(self.there)}: it is damaged or incomplete."


def spelled(length: int) -> str:
    """Format a length, even an absurd one: `01:30`, `18:00:03`, `41 days`, `31 years`."""
    days = length / MICROSECOND / 86_400
    if days < 4:
        return clock(length)
    return f"{days:,.0f} days" if days < 1000 else f"{days / 365.25:,.0f} years"


def measured(opened: OpenContainer) -> Length:
    """Return how long an open file is: from t = 0 to the end of the stream that ends last."""
    if opened.recording is not None:
        return Length(opened.recording.end, opened.recording.end)
    declared = _declared(opened)
    size = Path(opened.path).stat().st_size
    if declared <= LONGEST and declared * THICK <= size * MICROSECOND:
        return Length(declared, declared)
    most = min(LONGEST, GAP + size * THIN)
    covered, gap = _covered(opened, most)
    if declared <= min(most, covered + max(TAIL, gap)):
        return Length(declared, declared)
    return Length(declared, max(1, covered))


def _declared(opened: OpenContainer) -> int:
    names = set(opened.container.format.name.split(","))
    if not names & _GUESSED_LENGTH:
        ends = [end for kind in ("picture", "sound") if (end := opened.declared_end(kind)) is not None]
        if opened.container.duration:
            ends.append(opened.container.duration)
        if ends and max(ends) > 0:
            # Some writers forget the last frame's own length: what is there counts.
            opened.seek(main(opened), max(ends) - MICROSECOND)
            return max([*ends, end_of_packets(opened) or 0])
    opened.rewind()
    return max(end_of_packets(opened) or 0, 1)


def _covered(opened: OpenContainer, most: int) -> tuple[int, int]:
    """Return up to when packets follow each other without a gap of `GAP` (at most `most`), and the longest gap before; microseconds."""
    ends: dict[int, int] = {}  # slot → the latest end of a packet that begins in it: bounded, however many packets there are
    ticks: dict[int, tuple[int, int]] = {}  # stream → its time base: fractions take half of the time that there is for a packet
    opened.rewind()
    for packet in opened.packets("both"):
        stamp = packet.pts if packet.pts is not None else packet.dts
        if stamp is None or not packet.size:
            continue
        stream = packet.stream_index
        if stream not in ticks:
            base = packet.stream.time_base
            ticks[stream] = base.numerator * MICROSECOND, base.denominator
        times, over = ticks[stream]
        at = stamp * times // over - opened.zero
        if -GAP <= at <= most:
            last = (stamp + max(0, packet.duration or 0)) * times // over - opened.zero
            slot = at // _SLOT
            ends[slot] = max(ends.get(slot, 0), min(last, at + GAP, most))
    reach = longest = 0
    for slot in sorted(ends):
        gap = slot * _SLOT - reach
        if gap > GAP:
            break
        longest = max(longest, gap + _SLOT if gap > 0 else 0)
        reach = max(reach, ends[slot])
    return reach, min(longest, GAP)


def main(opened: OpenContainer) -> Kind:
    """Return the main stream: the video stream if there is one."""
    return "picture" if opened.picture is not None else "sound"


def end_of_packets(opened: OpenContainer) -> int | None:
    """Read to the end and return when the last readable packet ends, None if nothing is readable.

    Pictures of a stream without time stamps (raw H.264) follow each other at its rate.
    """
    untimed = 0
    ends: dict[int, tuple[int, Any]] = {}  # stream → the latest end in its own ticks: a fraction for each packet would take longer
    for packet in opened.packets("both"):
        if packet.pts is not None and packet.size:
            end = packet.pts + (packet.duration or 0)
            if (stream := packet.stream_index) not in ends or end > ends[stream][0]:
                ends[stream] = end, packet.stream
        elif packet.pts is None and packet.size and packet.stream.type == "video":
            untimed += 1
    if untimed and not ends:
        return untimed * frame_step(opened)
    return max((0, *(opened.time(stream, end) for end, stream in ends.values()))) if ends else None
