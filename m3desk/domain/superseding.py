"""Which observations are in force: those found by the models, except where a correction in force replaced them by others. Pure.

A correction creates new observations. Their ids are made of the replaced id, the step and a letter: step 12 replaces `s1.c0.u3` by
`s1.c0.u3_12a` and `s1.c0.u3_12b`; a missed face that was added is `s1.c0.f_13a`. Memorizing a source again never creates such ids.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from m3desk.domain.correction import Step
from m3desk.domain.ids import step_of
from m3desk.domain.log import Log, ObservationRow


@dataclass(frozen=True, slots=True)
class Standing:
    """Which observations are in force. `successors`: superseded → its replacements, in time order (may be superseded, too).

    `absent`: made by steps that are not in force. `enrolled`: from an enrolment photo or recording, not from a video.
    `reworded`: superseded utterances whose old words a sentence may quote.
    """

    seen: Mapping[str, ObservationRow] = field(default_factory=dict)
    successors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    absent: frozenset[str] = frozenset()
    enrolled: frozenset[str] = frozenset()
    reworded: frozenset[str] = frozenset()

    def counts(self, observation: str) -> bool:
        """Return whether an observation is in force."""
        return observation in self.seen and observation not in self.absent and observation not in self.successors

    def leaves(self, observation: str) -> list[str]:
        """Return the observations that replace one now, in time order: itself if nothing superseded it."""
        return [leaf for part in self.successors.get(observation, ()) for leaf in self.leaves(part)] or [observation]

    def follow(self, observation: str, start: int | None = None, end: int | None = None) -> str:
        """Return the one observation that replaces another now: the part that overlaps [start, end) most, the first on a tie.

        Without times: the longest part.
        """
        parts = self.successors.get(observation)
        if not parts:
            return observation
        old = self.seen[observation]
        a, b = (old.start, old.end) if start is None or end is None else (start, end)
        best = max(parts, key=lambda p: min(b, self.seen[p].end) - max(a, self.seen[p].start) if len(parts) > 1 else 0)
        return self.follow(best, start, end)

    def follow_beside(self, observation: str, other: str) -> str:
        """Return the part of an observation that overlaps another one in time."""
        beside = self.seen.get(other)
        return self.follow(observation, beside.start, beside.end) if beside else self.follow(observation)

    def was_reworded(self, observation: str) -> bool:
        """Return whether the words of an observation, or of those that replace it, were corrected."""
        if not self.reworded:
            return False
        return observation in self.reworded or any(self.was_reworded(p) for p in self.successors.get(observation, ()))


def standing(log: Log, steps: Sequence[Step]) -> Standing:
    """Return which observations of a log are in force, by the steps in force."""
    return stand(log.observations, sorted((n, o) for o in log.observations if (n := step_of(o)) is not None), steps)


def stand(observations: Mapping[str, ObservationRow], made: Sequence[tuple[int, str]], steps: Sequence[Step]) -> Standing:
    """Return which observations are in force. `made`: (step, id) of those that corrections made, in order."""
    if not made:
        return Standing(observations)
    active = {s.step: s for s in steps}
    in_place: dict[str, dict[int, list[ObservationRow]]] = defaultdict(dict)
    absent: set[str] = set()
    for step, id_ in made:
        seen = observations[id_]
        if step not in active or (seen.replaces and (seen.replaces not in observations or seen.replaces in absent)):
            absent.add(id_)
        elif seen.replaces:
            in_place[seen.replaces].setdefault(step, []).append(seen)
    successors: dict[str, tuple[str, ...]] = {}
    for old, by_step in in_place.items():
        latest = max(by_step)  # an undone step may be redone after another one replaced the same observation: the latest one holds
        successors[old] = tuple(s.id for s in sorted(by_step[latest], key=lambda s: (s.start, s.id)))
        absent |= {s.id for n, rows in by_step.items() if n != latest for s in rows}
    # Observations that replaced superseded parts are not in force either.
    for _step, id_ in made:
        if observations[id_].replaces in absent:
            absent.add(id_)
    return Standing(
        observations,
        {old: parts for old, parts in successors.items() if old not in absent},
        frozenset(absent),
        frozenset(o for n, o in made if n in active and active[n].kind == "enroll"),
        frozenset(o for s in steps for o in s.args.get("reworded", ())),
    )
