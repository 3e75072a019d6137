"""What a live session knows before its clips end, put together: galleries, names of faces, subtitles, bystander mode.

Everything runs in threads of its own and reads what the recorder shares; nothing here changes what is recorded or memorized.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from m3desk import events
from m3desk.domain.changed import Changed
from m3desk.domain.correction import Effect
from m3desk.domain.editing import Lesson
from m3desk.domain.identity import KnownPeople
from m3desk.domain.log import ObservationType
from m3desk.errors import M3DeskError, UsageError
from m3desk.live.approving import Bystanders
from m3desk.live.known import Galleries
from m3desk.live.recognizer import Recognizer
from m3desk.live.subtitles import Subtitles
from m3desk.media.capture.following import sound_pieces
from m3desk.media.capture.preview import Preview
from m3desk.ports import Models, Sound

log = logging.getLogger(__name__)

PORTS = ("faces", "face_vectors", "speech_activity", "voice_vectors")
VEIL = "m3desk.live.bystanders:Veil"
"""What the recorder has change its pictures in bystander mode."""

RETRY = 0.1


class LiveMemory(Protocol):
    """The open memory that a live source is memorized into (`app.App`)."""

    def known(self, type_: ObservationType, model: str, /) -> KnownPeople: ...
    def consents(self) -> Mapping[str, str]: ...
    def enroll_seen(self, name: str, lesson: Lesson, /) -> Effect: ...
    def set_consent(self, person: str, note: str, /) -> None: ...
    def hide_bystanders(self, source: str, /) -> None: ...
    def models_in_use(self, *ports: str) -> Models: ...
    def emit(self, event: Any, /) -> None: ...


class Recognition:
    """Recognition of one live source. `prepare` before its recorder is made, `begin` when it records, `end` when it has ended."""

    def __init__(self, memory: LiveMemory, source: str, *, profile: str = "embedded") -> None:
        self._memory, self._source, self._profile = memory, source, profile
        self._words = True
        self._ended = threading.Event()
        self._lock, self._ending = threading.Lock(), threading.Lock()
        self._galleries: Galleries | None = None
        self._recognizer: Recognizer | None = None
        self._subtitles: Subtitles | None = None
        self._bystanders: Bystanders | None = None
        self._preview: Preview | None = None
        self._thread: threading.Thread | None = None

    def prepare(self, *, bystanders: bool) -> tuple[str | None, str]:
        """Return the transform of the recorder's pictures and its argument; (None, "") without bystander mode.

        In bystander mode the memory stores only approved faces of this source from now on. Raises ModelMissing, OSError.
        """
        if not bystanders:
            return None, ""
        memory = self._memory
        model = memory.models_in_use("faces", "face_vectors").face_vectors
        self._memory.hide_bystanders(self._source)
        self._galleries = self._read_galleries(model.name if model else "", "")
        self._bystanders = Bystanders(
            self._source,
            lambda: self._galleries.of("face") if self._galleries else KnownPeople(),
            memory.consents,
            memory.enroll_seen,
            memory.set_consent,
            profile=self._profile,
            model=model.name if model else "",
        )
        return VEIL, str(self._bystanders.folder)

    def begin(self, preview: str, folder: Path) -> None:
        """Begin to recognise; returns at once. `preview`: name of the shared newest picture; `folder`: of the recording."""
        self._thread = threading.Thread(target=self._begin, args=(preview, folder), name="m3desk-recognition", daemon=True)
        self._thread.start()

    def _begin(self, name: str, folder: Path) -> None:
        try:
            models = self._memory.models_in_use(*PORTS)
        except M3DeskError as error:  # memorizing says so
            log.warning("live recognition is off: %s", error)
            return
        with self._lock:
            if self._ended.is_set():
                return
            old, self._galleries = self._galleries, self._read_galleries(_name(models.face_vectors), _name(models.voice_vectors))
            galleries = self._galleries
            self._subtitles = Subtitles(
                self._source,
                models,
                lambda: galleries.of("voice"),
                self._memory.emit,
                words=self._words,
                speech=lambda: self._memory.models_in_use("speech").speech,
            )
            self._subtitles.start(self._sound(folder))
        if old is not None:
            old.close()
        if models.faces is None or models.face_vectors is None:
            return
        while not self._ended.is_set():
            try:
                preview = Preview.attach(name)
                break
            except OSError:  # not made yet
                time.sleep(RETRY)
        else:
            return
        with self._lock:
            self._preview = preview
            if self._ended.is_set():
                return
            hidden = self._bystanders.hidden if self._bystanders else lambda: ()
            self._recognizer = Recognizer(
                self._source, models.faces, models.face_vectors, lambda: galleries.of("face"), self._memory.emit, hidden
            )
            self._recognizer.start(preview.newest)

    def _read_galleries(self, face: str, voice: str) -> Galleries:
        used: dict[ObservationType, str] = {}
        if face:
            used["face"] = face
        if voice:
            used["voice"] = voice
        return Galleries(self._memory.known, used)

    def _sound(self, folder: Path) -> Iterator[tuple[int, Sound]]:
        try:
            yield from sound_pieces(folder, 0, self._ended.is_set)
        except (M3DeskError, OSError) as error:
            log.warning("subtitles ended: %s", error)

    # ------------------------------------------------------------------ meanwhile

    @property
    def words(self) -> bool:
        """Whether subtitles have words; names are told in any case."""
        return self._words

    @words.setter
    def words(self, wanted: bool) -> None:
        self._words = wanted
        if (subtitles := self._subtitles) is not None:
            subtitles.words = wanted

    def note(self, changed: Changed) -> None:
        """Follow a commit; returns at once."""
        if (galleries := self._galleries) is not None:
            galleries.note(changed)

    def approve(self, who: str, name: str = "") -> str:
        """Approve a hidden face (its track) or a person; return the person's id. Raises CorrectionError, UsageError."""
        if self._bystanders is None:
            raise UsageError("this source is not recorded in bystander mode.", "Nobody is hidden: name the person instead.")
        return self._bystanders.approve(who, name)

    def end(self) -> None:
        """End all of it; call it when the recorder has ended. Safe to call twice."""
        with self._ending:
            if self._ended.is_set():
                return
            self._ended.set()
            self._end()

    def _end(self) -> None:
        if self._thread is not None:
            self._thread.join()
        for part in (self._recognizer, self._subtitles, self._galleries, self._bystanders, self._preview):
            if part is not None:
                part.close()
        if self._recognizer is not None:
            self._memory.emit(events.LiveFaces(self._source, 0, ()))


def _name(model: object) -> str:
    return str(getattr(model, "name", "") or "")
