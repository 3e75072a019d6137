"""How soon known faces and voices are named while a clip is still open: a made film is recorded at real time, and memorized beside it.

Each of 30 scenes shows one of six enrolled people (a photo that is not the enrolled one, moving) and lets one of six enrolled speakers
be heard (an utterance that is not enrolled). Two marks in the picture tell when a face and a voice begin: the bench reads them from the
same shared pictures that the window shows, so the delay is counted from the moment at which the recorder had the picture.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
from numpy.typing import NDArray

from m3desk import events
from m3desk.bench.material import data, timed
from m3desk.desk import EngineDesk
from m3desk.errors import UsageError
from m3desk.media.streams import open_media

PEOPLE = ("Family1-Dad", "Family1-Daughter", "Family1-Mom", "Family1-Son", "Family2-Lady", "Family2-Man")
SPEAKERS = ("1688", "1998", "2033", "2414", "2609", "3005")
LEAD = 14.0
"""Seconds of empty scenes at the film's beginning: models are opened meanwhile."""

SCENE, FACE_AT, FACE_FOR, VOICE_AT, VOICE_FOR = 7.0, 0.5, 4.0, 1.5, 4.0
"""Seconds: of a scene, and when in it a face and a voice begin and how long they last."""

RATE, FPS, WIDTH, HEIGHT, MARK = 16_000, 25, 1280, 720, 48
GOALS = {"face": (1.0, 2.0), "voice": (2.0, 4.0)}
"""Median and worst, in seconds."""


@dataclass
class Film:
    """The scenes of a film: the person and the speaker of each."""

    path: Path
    faces: list[str]
    voices: list[str]


@dataclass
class Watch:
    """What was told, and when (seconds of `time.monotonic`). `began`: when each face or voice began in the shared pictures."""

    began: dict[str, list[float]] = field(default_factory=lambda: {"face": [], "voice": []})
    named: list[tuple[float, str, frozenset[str]]] = field(default_factory=list)
    utterances: dict[int, float] = field(default_factory=dict)
    behind: float = 0.0
    given_up: set[str] = field(default_factory=set)
    preview: str = ""
    started: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)

    def __call__(self, event: Any) -> None:
        now = time.monotonic()
        match event:
            case events.LiveStarted(preview=preview):
                self.preview = preview
                self.started.set()
            case events.LiveFaces(faces=faces):
                self.named.append((now, "face", frozenset(f.name for f in faces if f.name)))
            case events.LiveWords(start=start, name=name):
                if self.utterances.setdefault(start, now) > now - SCENE / 2:  # else the words of one before, which was named long ago
                    self.named.append((now, "voice", frozenset({name} - {""})))
            case events.LiveStatus(behind=behind, given_up=given_up):
                self.behind = max(self.behind, behind)
                self.given_up |= set(given_up)
            case events.LiveEnded():
                self.ended.set()

    def follow(self, count: int) -> None:
        """Read the marks of the shared pictures until the source has ended. Raises OSError."""
        from m3desk.media.capture.preview import Preview

        preview = Preview.attach(self.preview)
        last, marked = -1, {"face": False, "voice": False}
        try:
            while not self.ended.wait(0.005):
                got = preview.newest()
                if got is None or got[0] == last:
                    continue
                last, now = got[0], time.monotonic()
                for kind, corner in (("face", got[1][:MARK, :MARK]), ("voice", got[1][:MARK, -MARK:])):
                    is_on = float(corner[8:-8, 8:-8].mean()) > 200
                    if is_on and not marked[kind] and len(self.began[kind]) < count:
                        self.began[kind].append(now)
                    marked[kind] = is_on
        finally:
            preview.close()


def measure(args: Sequence[str]) -> dict[str, Any]:
    """Record and memorize the film; a number gives the scenes (default 30). Raises FileNotFoundError without the material."""
    words = [a for a in args if not a.startswith("--")]
    if any(not w.isdecimal() or not 1 <= int(w) <= 500 for w in words) or len(words) > 1:
        raise UsageError("live_names takes the number of scenes.", "For example: m3desk bench live_names 30.")
    scenes = int(words[0]) if words else 30
    folder = Path(tempfile.mkdtemp(prefix="m3desk-live-names-"))
    try:
        memory = folder / "bench.m3desk"
        for person in PEOPLE:
            photo = data("faces", "azure_family", f"{person}1.jpg")
            timed(["people", "enroll", person, str(photo), "-m", str(memory), "-q"])
        for speaker in SPEAKERS:
            spoken = [str(_utterance(speaker, n)) for n in (0, 1, 2)]
            timed(["people", "enroll", _called(speaker), *spoken, "-m", str(memory), "-q"])
        film = made(folder / "film.mkv", scenes)
        watch = _played(memory, film, scenes)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    rows = {kind: _row(watch, kind, people) for kind, people in (("face", film.faces), ("voice", film.voices))}
    return {
        "ok": all(r["ok"] for r in rows.values()),
        "scenes": scenes,
        **rows,
        "most_behind_s": round(watch.behind, 1),
        "given_up": sorted(watch.given_up),
    }


def _played(memory: Path, film: Film, scenes: int) -> Watch:
    watch = Watch()
    desk = EngineDesk(str(memory))
    try:
        desk.subscribe(watch)
        desk.start_live(f"file:{film.path}?live").result(120)
        if not watch.started.wait(60):
            raise TimeoutError("the live source did not start")
        watch.follow(scenes)
    finally:
        desk.close()
    return watch


def _row(watch: Watch, kind: str, wanted: Sequence[str]) -> dict[str, Any]:
    """Return how long names took: from the beginning of each face or voice until it is first told with its name."""
    delays, missed, wrong = [], [], 0
    began = watch.began[kind]
    for n, (at, name) in enumerate(zip(began, wanted, strict=False)):
        until = began[n + 1] if n + 1 < len(began) else at + SCENE
        told = [(when - at, names) for when, what, names in watch.named if what == kind and at <= when < until]
        first = next((delay for delay, names in told if name in names), None)
        wrong += any(names - {name} for _, names in told)
        if first is None:
            missed.append(name)
        else:
            delays.append(round(first, 2))
    median, worst = (statistics.median(delays), max(delays)) if delays else (None, None)
    good = bool(delays) and not missed and median <= GOALS[kind][0] and worst <= GOALS[kind][1]  # type: ignore[operator]
    return {
        "ok": good,
        "begun": len(began),
        "named": len(delays),
        "missed": missed,
        "with_a_wrong_name": wrong,
        "median_s": median,
        "worst_s": worst,
        "delays_s": delays,
    }


def lines(report: dict[str, Any]) -> list[str]:
    """Return the report as people read it."""
    told = []
    for kind, (median, worst) in GOALS.items():
        row = report[kind]
        told.append(
            f"{kind}: {row['named']} of {row['begun']} named, median {row['median_s']} s, worst {row['worst_s']} s "
            f"(goal {median:g} / {worst:g}); {row['with_a_wrong_name']} with a wrong name"
        )
    return [*told, f"most behind: {report['most_behind_s']} s; given up: {', '.join(report['given_up']) or 'nothing'}"]


# ---------------------------------------------------------------- the film


def made(path: Path, scenes: int) -> Film:
    """Write the film: H.264 and PCM sound, both begun at time 0."""
    film = Film(
        path, [PEOPLE[n % len(PEOPLE)] for n in range(scenes)], [_called(SPEAKERS[(2 * n + n // 6) % len(SPEAKERS)]) for n in range(scenes)]
    )
    photos = {p: _photos(p) for p in PEOPLE}
    noise = np.random.default_rng(5).integers(60, 150, (HEIGHT, WIDTH, 3), dtype=np.uint8)
    ground = np.asarray(cv2.GaussianBlur(noise, (0, 0), 6), np.uint8)
    with av.open(str(path), "w") as container:
        video = container.add_stream("libx264", rate=FPS, options={"preset": "ultrafast", "crf": "20"})
        video.width, video.height, video.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        audio = container.add_stream("pcm_s16le", rate=RATE, layout="mono")
        silent = np.zeros(round(SCENE * RATE), np.int16)
        count = 0
        for n in range(-round(LEAD / SCENE), scenes):
            photo = photos[film.faces[n]][n // len(PEOPLE) % len(photos[film.faces[n]])] if n >= 0 else None
            sound = _said(film.voices[n], n) if n >= 0 else silent
            for k, picture in enumerate(_scene(ground, photo, n)):
                container.mux(video.encode(av.VideoFrame.from_ndarray(picture, format="bgr24")))
                # Sound in pieces as short as a picture: a player at real time delivers a piece when it begins.
                frame = av.AudioFrame.from_ndarray(sound[None, k * RATE // FPS : (k + 1) * RATE // FPS], format="s16", layout="mono")
                frame.sample_rate, frame.pts, frame.time_base = RATE, count * RATE // FPS, Fraction(1, RATE)
                container.mux(audio.encode(frame))
                count += 1
        container.mux([*video.encode(None), *audio.encode(None)])
    return film


def _scene(ground: NDArray[np.uint8], photo: NDArray[np.uint8] | None, n: int) -> Iterator[NDArray[np.uint8]]:
    """Yield the pictures of a scene; without a photo nothing happens in it."""
    if photo is None:
        yield from [ground] * round(SCENE * FPS)
        return
    height, width = photo.shape[:2]
    for k in range(round(SCENE * FPS)):
        at = k / FPS
        picture = ground.copy()
        if FACE_AT <= at < FACE_AT + FACE_FOR:
            x = round((WIDTH - width) / 2 + 150 * np.sin(1.3 * at + n))
            y = round((HEIGHT - height) / 2 + 20 * np.sin(2.1 * at))
            picture[y : y + height, x : x + width] = photo
            picture[:MARK, :MARK] = 255
        if VOICE_AT <= at < VOICE_AT + VOICE_FOR:
            picture[:MARK, -MARK:] = 255
        yield picture


def _photos(person: str) -> list[NDArray[np.uint8]]:
    """Return a person's photos but the enrolled one, 480 pixels high."""
    found = []
    for n in (2, 3):
        try:
            read = cv2.imread(str(data("faces", "azure_family", f"{person}{n}.jpg")))
        except FileNotFoundError:
            continue
        assert read is not None
        scale = 480 / read.shape[0]
        found.append(np.asarray(cv2.resize(read, (min(900, round(read.shape[1] * scale)), 480), interpolation=cv2.INTER_AREA), np.uint8))
    return found


def _called(speaker: str) -> str:
    return f"Speaker {speaker}"


def _utterance(speaker: str, n: int) -> Path:
    folder = data("speech", "librispeech_speakers", speaker)
    return sorted(folder.glob("*.flac"))[n]


def _said(name: str, n: int) -> NDArray[np.int16]:
    """Return a scene's sound: VOICE_FOR seconds of an utterance from its first loud moment on, faint noise around."""
    sound = _sound(_utterance(name.rsplit(" ", 1)[1], 3 + n % 7))
    power = np.convolve(np.square(sound), np.ones(320) / 320, "same")
    first = int(np.argmax(power > 0.02 * power.max()))
    said = sound[first : first + round(VOICE_FOR * RATE)]
    whole = np.random.default_rng(n).normal(0, 0.0005, round(SCENE * RATE))
    start = round(VOICE_AT * RATE)
    whole[start : start + len(said)] += said
    return np.asarray(np.clip(whole * 32767, -32768, 32767), np.int16)


def _sound(path: Path) -> NDArray[np.float64]:
    with open_media(str(path)) as opened:
        assert opened.sound is not None
        mixer = av.AudioResampler(format="fltp", layout="mono", rate=RATE)
        pieces = []
        for packet in opened.packets("sound"):
            for frame in packet.decode():
                frame.pts = None
                pieces += [m.to_ndarray()[0] for m in mixer.resample(frame)]
    return np.concatenate(pieces).astype(np.float64)
