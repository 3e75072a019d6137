"""Bystander mode as the engine sees it: who is approved, whose faces are hidden now, and the approval of one of them.

The pictures are blurred by a `Veil` in the recorder's process (`live.bystanders`); here is the other end of its folder. Whoever has a
note on their consent is approved. Others are not in the recording. Where the veil missed a face, it is not in the evidence: the store
leaves out unapproved faces of a source that was recorded in bystander mode (`store.forgetting.withholding`).
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

import numpy as np

from m3desk import paths
from m3desk.domain.clip import Source
from m3desk.domain.correction import Effect
from m3desk.domain.editing import Lesson, Sample
from m3desk.domain.evidence import media_hash, media_id
from m3desk.domain.identity import KnownPeople
from m3desk.domain.live import LiveFace
from m3desk.errors import CorrectionError, M3DeskError
from m3desk.live.bystanders import HIDDEN
from m3desk.live.mailbox import Mailbox, packed, unpacked

log = logging.getLogger(__name__)

EVERY = 1.0
"""Seconds between two looks at who is approved now."""

ANSWER = 5.0
"""Seconds that the recorder's process may take to hand out a face."""

OLD = 2.0
"""Seconds after which faces that were reported are no longer shown: the recorder paused or ended."""


class Bystanders:
    """The approvals of one live source that is recorded in bystander mode. Close it, which removes its folder."""

    def __init__(
        self,
        source: str,
        known: Callable[[], KnownPeople],
        consents: Callable[[], Mapping[str, str]],
        enroll: Callable[[str, Lesson], Effect],
        consent: Callable[[str, str], None],
        *,
        profile: str = "embedded",
        model: str = "",
    ) -> None:
        """`known`: the newest galleries of faces. `consents`, `consent`: read and keep notes on consent.

        `enroll`: makes a person of a face. `model`: the face model that the memory uses, if it is not the profile's. Raises OSError.
        """
        self._source, self._known, self._consents, self._enroll, self._consent = source, known, consents, enroll, consent
        self._temporary = paths.temporary("veil")
        self.folder = Path(self._temporary.name)
        """What the recorder's veil is given."""
        self._mail = Mailbox(self.folder)
        self._mail.put("how.json", json.dumps({"profile": profile, "model": model}).encode())
        self._written: tuple[KnownPeople, Mapping[str, str], Mapping[str, str]] | None = None
        self._tracks: dict[str, str] = {}
        """Faces that were approved in this session (their tracks), and the persons that they became."""
        self._hidden: tuple[LiveFace, ...] = ()
        self._heard = 0.0
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self.refresh()
        self._thread = threading.Thread(target=self._run, name="m3desk-bystanders", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End, and remove the folder with all embeddings in it."""
        self._closed.set()
        self._thread.join()
        self._temporary.cleanup()

    def _run(self) -> None:
        while not self._closed.wait(EVERY):
            try:
                self.refresh()
            except (M3DeskError, OSError) as error:  # the memory is busy, the disk is full: those approved before stay
                log.warning("approvals could not be handed on: %s", error)

    def refresh(self) -> None:
        """Hand the embeddings of everybody approved to the veil, if they changed. Raises OSError, MemoryProblem."""
        with self._lock:
            known, consents = self._known(), dict(self._consents())
            tracks = {t: p for t, p in self._tracks.items() if p in consents}
            if self._written is not None and known is self._written[0] and (consents, tracks) == self._written[1:]:
                return
            galleries = [g for g in known.galleries if g.person in consents and len(g.vectors)]
            people = sorted({g.person for g in galleries})
            size = galleries[0].vectors.shape[1] if galleries else 0
            same = [g for g in galleries if g.vectors.shape[1] == size]
            rows = np.concatenate([g.vectors for g in same]) if same else np.zeros((0, 0), np.float32)
            owner = np.concatenate([np.full(len(g.vectors), people.index(g.person)) for g in same]) if same else np.zeros(0, int)
            named = np.array(sorted(tracks.items()), dtype=str).reshape(-1, 2)
            self._mail.put("approved.npz", packed(people=np.array(people, dtype=str), owner=owner, rows=rows, tracks=named))
            self._written = known, consents, tracks

    # ------------------------------------------------------------------ who is hidden, approving

    def hidden(self) -> tuple[LiveFace, ...]:
        """Return the faces that are blurred on the newest picture, with the tracks by which they can be approved."""
        if (content := self._mail.news("seen.json")) is not None:
            seen = json.loads(content)["faces"]
            self._hidden = tuple(LiveFace(f["track"], *f["box"]) for f in seen if f["hidden"])
            self._heard = time.monotonic()
        return self._hidden if time.monotonic() - self._heard < OLD else ()

    def approve(self, who: str, name: str = "") -> str:
        """Approve a hidden face (its track) or a person of the memory; return the person's id.

        A face becomes a person of the memory, called `name`, from the embeddings and crops of this session. Raises CorrectionError if the
        face left more than a minute ago, was never seen well enough, or nobody has that id.
        """
        if who.startswith(HIDDEN):
            lesson = self._asked_for(who)
            effect = self._enroll(name.strip() or f"Guest {datetime.now().astimezone():%d %b %H:%M:%S}", lesson)
            self._tracks[who] = effect.people[0]
            who = effect.people[0]
        if who not in self._consents():
            self._consent(who, f"Approved in bystander mode on {datetime.now().astimezone().isoformat(timespec='minutes')}.")
        self.refresh()
        return who

    def _asked_for(self, track: str) -> Lesson:
        """Ask the recorder's process for a face's embeddings and crops."""
        answer = f"track-{track}.npz"
        self._mail.put("wanted.json", json.dumps([track]).encode())
        until = time.monotonic() + ANSWER
        while (content := self._mail.news(answer)) is None:
            if time.monotonic() > until:
                raise CorrectionError("the recorder does not answer.", "Try again while the person is in view.")
            time.sleep(0.05)
        self._mail.drop(answer)
        found = unpacked(content)
        if "rows" not in found:
            raise CorrectionError("that face is not in view any more.", "Approve it while it is, or up to a minute later.")
        crops = [found[f"crop{n}"].tobytes() for n in range(len(found["rows"]))]
        ids = tuple(media_id(c, ".jpg") for c in crops)
        marks = tuple(tuple((round(float(x), 1), round(float(y), 1)) for x, y in five) for five in found["marks"])
        sample = Sample(
            str(found["model"]), found["rows"], ids, marks, float(found["quality"].max()), media=dict(zip(ids, crops, strict=True))
        )
        file = Source("", f"live {self._source}, {track}", None, None, None, None, False, media_hash(ids[0]), bytes=len(crops[0]))
        return Lesson(file, sample, face=tuple(float(v) for v in found["box"]))  # type: ignore[arg-type]
