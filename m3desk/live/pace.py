"""How far memorizing is behind a live source, how fast it catches up, and what is given up meanwhile.

Clips that are not memorized yet wait on disk: as a recording and as rows of the memory, never in RAM. The more seconds of closed clips
wait, the more is left out of the next clip, in one fixed order (`ORDER`). Sound, faces and commits are never given up. What a clip was
perceived without is stored with it, so memorizing the recording again later does it in full.
"""

from __future__ import annotations

from dataclasses import dataclass

from m3desk.domain.live import HALF_OF_PICTURES, MOST_PICTURES, OBJECTS_AND_TEXTS, SEMANTIC, GivenUp

ORDER: tuple[tuple[GivenUp, float], ...] = (
    (SEMANTIC, 35.0),
    (OBJECTS_AND_TEXTS, 50.0),
    (HALF_OF_PICTURES, 80.0),
    (MOST_PICTURES, 120.0),
)
"""What is given up, and from how many waiting seconds on. One clip (30 s) waits also where the machine keeps up."""

TAKEN_BACK = 0.6
"""Fraction of its limit below which something is no longer given up: it would come and go with every clip otherwise."""

WEIGHT = 0.4
"""Weight of the newest clip in the measured speed."""


@dataclass(slots=True)
class Pace:
    """Measures the work on one live source. Times are seconds of any one clock."""

    speed: float | None = None
    """Seconds of source memorized per second while clips were waiting; None until measured."""
    _given_up: tuple[GivenUp, ...] = ()
    _done_at: float | None = None

    def given_up(self, behind: float) -> tuple[GivenUp, ...]:
        """Return what is left out of the next clip, given the seconds that wait."""
        self._given_up = tuple(
            what for what, limit in ORDER if behind >= limit or (what in self._given_up and behind >= limit * TAKEN_BACK)
        )
        return self._given_up

    def of_clip(self) -> tuple[GivenUp, ...]:
        """Return what is left out of a clip's perception: semantic memories are not part of it, they are written later anyway."""
        return tuple(what for what in self._given_up if what != SEMANTIC)

    def committed(self, length: float, at: float, closed_at: float) -> None:
        """Note that a clip of `length` seconds was committed at `at`; `closed_at`: when its end was recorded.

        Its speed counts only if the clip was there as a whole when the one before was committed: else it had to wait for the camera.
        """
        if self._done_at is not None and closed_at <= self._done_at < at and length > 0:
            speed = length / (at - self._done_at)
            self.speed = speed if self.speed is None else WEIGHT * speed + (1 - WEIGHT) * self.speed
        self._done_at = at

    def catch_up(self, behind: float, recording: bool) -> float | None:
        """Return the seconds until nothing waits, at the measured speed; None if it is not known or does not catch up."""
        gain = None if self.speed is None else self.speed - (1.0 if recording else 0.0)
        if behind <= 0:
            return 0.0
        return None if gain is None or gain <= 0.02 else behind / gain
