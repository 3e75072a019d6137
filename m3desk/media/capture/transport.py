"""Reads the structure of MPEG-TS bytes: when each picture and piece of sound begins, and where reading can start (ISO 13818-1).

Only what M3Desk's own recordings hold is understood: one stream of pictures and one of sound, with fixed packet identifiers.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

PACKET = 188
"""Bytes of a packet of MPEG-TS."""

PICTURE_PID, SOUND_PID = 0x100, 0x101
"""Packet identifiers of the two streams, as FFmpeg's muxer gives them."""

TICKS = 90_000
"""Ticks of a time stamp in a second."""

ZERO = 10
"""Seconds that are added to all time stamps of a recording, so that the first ones (an encoder's delay) are not negative."""

SOUND_FRAME = 21_333
"""Microseconds of an AAC frame: 1,024 samples of 48,000 a second."""

_SOUND_POINT = 1_000_000
_PIDS = (PICTURE_PID, SOUND_PID)
_FEW = 40
"""Packets up to which numpy takes longer than a loop: a recorder's frame of sound fills two or three, 47 times a second."""


def ticks(at: int) -> int:
    """Return the time stamp of a time in microseconds of the recording."""
    return round(at * 9 / 100) + ZERO * TICKS


def time_of(stamp: int) -> int:
    """Return the time in microseconds of the recording of a time stamp."""
    return round(stamp * 100 / 9) - ZERO * 1_000_000


@dataclass(slots=True)
class Scanner:
    """Finds time stamps in the bytes of a segment, which may come in pieces.

    `pictures`, `sounds`: (time, byte offset) where decoding of that stream can start. `start`, `end`: microseconds of what was scanned,
    None before the first; `picture_duration`: microseconds assumed for the last picture.
    """

    picture_duration: int = 40_000
    pictures: list[tuple[int, int]] = field(default_factory=list)
    sounds: list[tuple[int, int]] = field(default_factory=list)
    start: int | None = None
    end: int | None = None
    scanned: int = 0
    rest: bytes = b""

    def feed(self, data: bytes) -> None:
        """Scan the next bytes of the segment."""
        data = self.rest + data
        whole = len(data) // PACKET * PACKET
        self.rest = data[whole:]
        for offset, pid, key, stamp in starts(data[:whole]):
            self._note(self.scanned + offset, pid, key, time_of(stamp))
        self.scanned += whole

    def _note(self, offset: int, pid: int, key: bool, at: int) -> None:
        if pid == PICTURE_PID:
            if key:
                self.pictures.append((at, offset))
            end = at + self.picture_duration
        else:
            if not self.sounds or at - self.sounds[-1][0] >= _SOUND_POINT:
                self.sounds.append((at, offset))
            end = at + SOUND_FRAME
        self.start = max(0, at if self.start is None else min(self.start, at))  # an encoder's delay comes before 0
        self.end = end if self.end is None else max(self.end, end)


def starts(data: bytes) -> list[tuple[int, int, bool, int]]:
    """Return (byte offset, packet identifier, whether decoding can start there, time stamp) of each picture and sound frame in `data`.

    `data`: whole packets.
    """
    found = []
    for index in _beginning(data):
        packet = data[index * PACKET : (index + 1) * PACKET]
        payload, key = 4, False
        if packet[3] & 0x20:  # an adaptation field comes first
            payload += 1 + packet[4]
            key = bool(packet[4] and packet[5] & 0x40)
        if payload + 14 > PACKET or packet[payload : payload + 3] != b"\0\0\1" or not packet[payload + 7] & 0x80:
            continue
        pid = (packet[1] & 0x1F) << 8 | packet[2]
        found.append((index * PACKET, pid, key, _stamp(packet[payload + 9 : payload + 14])))
    return found


def _beginning(data: bytes) -> list[int]:
    """Return the numbers of the packets in which a picture or a frame of sound begins."""
    if len(data) <= _FEW * PACKET:
        firsts = range(0, len(data), PACKET)
        return [i // PACKET for i in firsts if data[i] == 0x47 and data[i + 1] & 0x40 and (data[i + 1] & 0x1F) << 8 | data[i + 2] in _PIDS]
    packets = np.frombuffer(data, np.uint8).reshape(-1, PACKET)
    pids = (packets[:, 1].astype(np.int32) & 0x1F) << 8 | packets[:, 2]
    begins = (packets[:, 0] == 0x47) & (packets[:, 1] & 0x40 != 0) & ((pids == PICTURE_PID) | (pids == SOUND_PID))
    return [int(i) for i in np.flatnonzero(begins)]


def _stamp(field_: bytes) -> int:
    a, b, c, d, e = field_
    return (a >> 1 & 7) << 30 | b << 22 | c >> 1 << 15 | d << 7 | e >> 1


def without(data: bytes, start: int, end: int) -> bytes:
    """Return the packets of a segment without the pictures and sound of [start, end) microseconds.

    A bit more is left out after `end`: pictures until the next one that needs no earlier one, and two frames of sound, because each
    holds a part of the frame before it.
    """
    whole = data[: len(data) // PACKET * PACKET]
    packets = np.frombuffer(whole, np.uint8).reshape(-1, PACKET)
    pids = (packets[:, 1].astype(np.int32) & 0x1F) << 8 | packets[:, 2]
    keep = np.ones(len(packets), bool)
    for pid in (PICTURE_PID, SOUND_PID):
        keeping = True
        since = 0
        own = np.flatnonzero(pids == pid)
        mine = np.ones(len(packets), bool)
        for offset, _, key, stamp in (s for s in starts(whole) if s[1] == pid):
            index, at = offset // PACKET, time_of(stamp)
            mine[since:index] = keeping
            since = index
            if pid == PICTURE_PID:
                keeping = at < start or (at >= end and (key or keeping))
            else:
                keeping = at + SOUND_FRAME <= start or at >= end + 2 * SOUND_FRAME
        mine[since:] = keeping
        keep[own] = mine[own]
    return packets[keep].tobytes()
