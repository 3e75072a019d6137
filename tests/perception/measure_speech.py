"""Measure hearing on ../shared/data: word errors, phantom speech, speakers told apart, time. Prints one JSON document.

python tests/perception/measure_speech.py [reel] [sentences] [chinese] [silence] [speakers] [diarization] [mixed]
"""

from __future__ import annotations

import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from m3desk.domain.clip import Clip, Source
from m3desk.domain.evidence import Utterance
from m3desk.media.cutter import FileClip, plan
from m3desk.media.file import probe
from m3desk.paths import models_dir, resources
from m3desk.perception.voices import SpeechEvidence, hear
from m3desk.ports import Models, Sound

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"

DIGITS = {w: str(n) for n, w in enumerate(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"])}


@dataclass
class SoundClip:
    """A sound of one's own making as a clip; answers ports.ClipMedia. `whole`: the sound of the source."""

    clip: Clip
    source: Source
    whole: Sound
    path: str = ""
    problems: tuple[str, ...] = ()
    overrun: float = 3.0

    def frames(self) -> Any:
        return iter(())

    def sound(self) -> Sound:
        end = self.clip.end / 1e6 + self.overrun
        return self.whole[round(self.clip.start * 0.016) : round(end * 16000)].copy()


def sound_clips(sound: Sound, seconds: float = 30.0) -> list[SoundClip]:
    """Cut a sound into clips as a file is cut."""
    length = round(len(sound) / 16000 * 1e6)
    source = Source("s1", "made", length, None, None, None, True, None)
    return [SoundClip(clip, source, sound) for clip in plan(source, seconds)]


def opened(threads: int = 2, *, speech: bool = True) -> Models:
    """Open the embedded models of hearing; without `speech` those that ship."""
    from m3desk_cpu.speech import Whisper
    from m3desk_cpu.voices import CamPlus, Segmentation, Silero

    return Models(
        speech_activity=Silero(1),
        speech_segmentation=Segmentation(resources() / "models" / "pyannote_seg3.onnx", 1),
        voice_vectors=CamPlus(resources() / "models" / "campplus_zh_en_linear_w16.onnx", 1),
        speech=Whisper(models_dir() / "whisper-base", threads) if speech else None,
    )


def heard_in(clips: Sequence[Any], models: Models) -> list[SpeechEvidence]:
    """Hear clips one after the other, as the pipeline does."""
    found: list[SpeechEvidence] = []
    until: int | None = None
    for media in clips:
        found.append(hear(media, models, heard_until=until))
        until = max((u.end for u in found[-1].utterances), default=None)
    return found


def listened(clips: Sequence[Any], models: Models) -> list[Utterance]:
    return [u for heard in heard_in(clips, models) for u in heard.utterances]


def file_clips(path: Path) -> list[FileClip]:
    source = replace(probe(path), id="s1", sha256="")
    return [FileClip(source, clip, str(path)) for clip in plan(source)]


# ---------------------------------------------------------------- word errors


def words_of(text: str) -> list[str]:
    """Normalise for counting: lower case, no punctuation, digits for number words, "F2" as "f 2"."""
    found = []
    for token in re.sub(r"[^\w' ]", " ", text.lower().replace("’", "'").replace("-", " ")).split():
        split = re.fullmatch(r"([a-z])(\d+)", token)
        found += [DIGITS.get(t, t) for t in (split.groups() if split else (token,))]
    return found


def characters_of(text: str) -> list[str]:
    return [c for c in text.lower() if "\u4e00" <= c <= "\u9fff" or (c.isascii() and c.isalnum())]


def errors(said: Sequence[str], heard: Sequence[str]) -> int:
    """Return substitutions + deletions + insertions."""
    row = list(range(len(heard) + 1))
    for i, a in enumerate(said, 1):
        before, row[0] = row[:], i
        for j, b in enumerate(heard, 1):
            row[j] = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
    return row[-1]


def rate(pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> float:
    return round(sum(errors(a, b) for a, b in pairs) / max(1, sum(len(a) for a, _ in pairs)), 3)


def reel(models: Models) -> dict[str, Any]:
    """Word errors on the reel's GRID sentences: the words of all clips whose middle lies in the scene. Ports of the issue: ≤ 0.25."""
    folder = DATA / "video" / "reel"
    scenes = json.loads((folder / "reel_shared.timeline.json").read_text())["timeline"]
    wall, core = time.perf_counter(), time.process_time()
    heard = listened(file_clips(folder / "reel_shared.mp4"), models)
    wall, core = time.perf_counter() - wall, time.process_time() - core
    pairs, rows = [], []
    for s in scenes:
        inside = [w.text for u in heard for w in u.words if s["start"] <= (w.start + w.end) / 2e6 < s["end"]]
        if s["transcript"]:
            pairs.append((words_of(s["transcript"]), words_of(" ".join(inside))))
            rows.append([s["transcript"], " ".join(inside)])
    silent = [u.text for u in heard for s in scenes if not s["speakers"] and s["start"] + 0.5 <= u.start / 1e6 < s["end"] - 0.5]
    return {
        "word_errors": rate(pairs),
        "sentences": rows,
        "phantoms_in_silent_scenes": silent,
        "utterances": len(heard),
        "longest_s": round(max(u.end - u.start for u in heard) / 1e6, 1),
        "core_seconds": round(core, 1),
        "wall_seconds": round(wall, 1),
        "purity": _purity(heard, scenes),
    }


def _purity(heard: Sequence[Utterance], scenes: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Of utterances in scenes of one speaker: the share lying within one scene, and of in-clip clusters that hold one speaker only."""
    one = [s for s in scenes if len(s["speakers"]) == 1]
    clusters: dict[tuple[str, int], Counter[str]] = {}
    inside = total = 0
    for u in heard:
        middle = (u.start + u.end) / 2e6
        scene = next((s for s in one if s["start"] <= middle < s["end"]), None)
        if scene is None:
            continue
        total += 1
        inside += scene["start"] - 0.3 <= u.start / 1e6 and u.end / 1e6 <= scene["end"] + 0.3
        clusters.setdefault((u.clip, u.cluster), Counter())[scene["speakers"][0]] += 1
    pure = sum(max(c.values()) for c in clusters.values()) / max(1, sum(sum(c.values()) for c in clusters.values()))
    people = {(clip, name) for (clip, _), c in clusters.items() for name in c}
    return {
        "in_one_scene": round(inside / max(1, total), 3),
        "cluster_purity": round(pure, 3),
        "clusters_a_speaker": round(len(clusters) / max(1, len(people)), 3),
    }


def sentences(models: Models) -> dict[str, Any]:
    """Word errors on separate files: GRID, speechbrain, JFK, and the long clips in English and German."""
    result: dict[str, Any] = {}
    grid = [r for r in json.loads((DATA / "video" / "labels.json").read_text()) if r["file"].startswith("grid/") and r.get("transcript")]
    sets: dict[str, list[tuple[Path, str]]] = {"grid": [(DATA / "video" / r["file"], r["transcript"]) for r in grid]}
    read = json.loads((DATA / "speech/speechbrain_asr/transcripts.json").read_text())
    sets["speechbrain"] = [(DATA / f"speech/speechbrain_asr/{k}.wav", v["text"]) for k, v in read.items()]
    for code in ("en-US", "de-DE"):
        folder = DATA / "speech/customspeech_wer" / code
        sets[code] = [(folder / "audio.wav", (folder / "trans.txt").read_text(encoding="utf-8-sig").split("\t", 1)[1])]
    for name, files in sets.items():
        core = time.process_time()
        heard = [(text, listened(file_clips(path), models)) for path, text in files]
        pairs = [(words_of(text), words_of(" ".join(u.text for u in us))) for text, us in heard]
        result[name] = {
            "word_errors": rate(pairs),
            "words": sum(len(a) for a, _ in pairs),
            "languages": dict(Counter(u.language for _, us in heard for u in us)),
            "core_seconds": round(time.process_time() - core, 1),
        }
    return result


def chinese(models: Models) -> dict[str, Any]:
    """Character errors on Chinese, and a clip that changes between English and Chinese."""
    folder = DATA / "speech/customspeech_wer/zh-CN"
    heard = listened(file_clips(folder / "audio.wav"), models)
    said = characters_of((folder / "trans.txt").read_text(encoding="utf-8-sig").split("\t", 1)[1])
    switching = listened(file_clips(DATA / "speech/katie_steve/en-us_zh-cn.wav"), models)
    return {
        "character_errors": rate([(said, characters_of("".join(u.text for u in heard)))]),
        "languages": dict(Counter(u.language for u in heard)),
        "text": "".join(u.text for u in heard),
        "digits": [u.text for u in listened(file_clips(DATA / "speech/digits/chinese.flac"), models)],
        "switching": [[u.language, u.text] for u in switching],
    }


# ---------------------------------------------------------------- silence


def noises(seconds: float = 30.0, seed: int = 7) -> dict[str, Sound]:
    """Make sounds in which nobody speaks."""
    random = np.random.default_rng(seed)
    n = round(seconds * 16000)
    t = np.arange(n) / 16000
    white = random.standard_normal(n)
    spectrum = np.fft.rfft(random.standard_normal(n))
    frequency = np.maximum(np.fft.rfftfreq(n, 1 / 16000), 20)
    pink = np.fft.irfft(spectrum / np.sqrt(frequency), n)
    brown = np.fft.irfft(spectrum / frequency, n)
    hum = sum(np.sin(2 * np.pi * 50 * k * t) / k for k in (1, 2, 3, 5))
    notes = 220 * 2 ** (random.integers(0, 24, int(seconds * 4)) / 12)
    at = np.minimum((t * 4).astype(int), len(notes) - 1)
    melody = sum(np.sin(2 * np.pi * np.cumsum(notes[at]) / 16000 * k) / k for k in (1, 2, 3, 4)) * np.exp(-4 * (t * 4 % 1))
    chord = sum(np.sin(2 * np.pi * f * (1 + 0.003 * np.sin(2 * np.pi * 5 * t)) * t) for f in (261.6, 329.6, 392.0))
    clicks = np.zeros(n)
    clicks[random.integers(0, n, int(seconds * 6))] = 1
    claps = np.convolve(
        (random.random(n) < 150 / 16000) * random.standard_normal(n), np.exp(-np.arange(800) / 120) * random.standard_normal(800), "same"
    )
    engine = brown / np.std(brown) * (1 + 0.8 * np.sin(2 * np.pi * 11 * t)) + hum
    made = {
        "digital silence": np.zeros(n),
        "dither": white * 1e-5,
        "white noise": white * 0.1,
        "faint white noise": white * 0.003,
        "pink noise": pink / np.std(pink) * 0.1,
        "brown noise": brown / np.std(brown) * 0.1,
        "room noise": brown / np.std(brown) * 0.004 + white * 0.0008,
        "hum": hum * 0.1,
        "melody": melody * 0.15,
        "chord": chord * 0.1,
        "clicks": clicks * 0.8,
        "applause": claps / np.max(np.abs(claps)) * 0.6,
        "engine": engine / np.std(engine) * 0.1,
        "sweep": np.sin(2 * np.pi * (100 * t + 50 * t**2)) * 0.2,
        "bursts": white * 0.2 * (np.sin(2 * np.pi * 3 * t) > 0.3),
    }
    return {name: np.asarray(sound, np.float32) for name, sound in made.items()}


def silence(models: Models) -> dict[str, Any]:
    """What is heard where nobody speaks: made noises, and files without sound. All should be empty."""
    found: dict[str, Any] = {name: [u.text for u in listened(sound_clips(sound), models)] for name, sound in noises().items()}
    for name in (
        "video/intel/one-by-one-person-detection.mp4",
        "video/tos/tears_of_steel_16s.webm",
        "video/webrtc_two_men/vp9_webrtc_4.webm",
    ):
        found[name] = [u.text for u in listened(file_clips(DATA / name), models)]
    return {"phantoms": {k: v for k, v in found.items() if v}, "tried": len(found)}


# ---------------------------------------------------------------- speakers


def _truth(path: Path) -> dict[str, list[tuple[float, float, str]]]:
    """Read an RTTM file: file id → (start, end, speaker)."""
    found: dict[str, list[tuple[float, float, str]]] = {}
    for line in path.read_text().splitlines():
        f = line.split()
        if f and f[0] == "SPEAKER":
            found.setdefault(f[1], []).append((float(f[3]), float(f[3]) + float(f[4]), f[7]))
    return found


def confusion(truth: Sequence[tuple[float, float, str]], heard: Sequence[Utterance]) -> dict[str, Any]:
    """Compare 10 ms frames in which exactly one truly speaks; clusters are matched to speakers greedily by time in common (per clip)."""
    end = max(t[1] for t in truth)
    times = np.arange(0, end, 0.01)
    speaking = [{s for a, b, s in truth if a <= t < b} for t in times]
    ours: list[tuple[str, int] | None] = [None] * len(times)
    for u in heard:
        for i in range(int(u.start / 1e4), min(len(times), int(u.end / 1e4))):
            ours[i] = (u.clip, u.cluster)
    counts: Counter[tuple[tuple[str, int], str]] = Counter()
    alone = [(o, next(iter(s))) for o, s in zip(ours, speaking, strict=True) if len(s) == 1]
    for o, s in alone:
        if o is not None:
            counts[o, s] += 1
    matched: dict[tuple[str, int], str] = {}
    for (o, s), _ in counts.most_common():
        if o not in matched and not any(p[0] == o[0] and matched[p] == s for p in matched):
            matched[o] = s
    wrong = sum(n for (o, s), n in counts.items() if matched.get(o) != s)
    missed = sum(o is None for o, _ in alone)
    false = sum(o is not None and not s for o, s in zip(ours, speaking, strict=True))
    return {
        "speakers": len({s for *_, s in truth}),
        "found": len({(u.clip, u.cluster) for u in heard}),
        "confused": round(wrong / max(1, len(alone)), 3),
        "missed": round(missed / max(1, len(alone)), 3),
        "false_s": round(false / 100, 1),
        "overlap_s": round(sum(len(s) > 1 for s in speaking) / 100, 1),
        "overlapped_s": round(sum((u.end - u.start) / 1e6 for u in heard if u.overlapped), 1),
    }


Truth = list[tuple[float, float, str]]


def with_turns() -> dict[str, tuple[Path, Truth]]:
    """Return the files with turns: name → (file, (start, end, speaker) in seconds)."""
    speech = DATA / "speech"
    segments = json.loads((speech / "falcon" / "segments.json").read_text())["tests"]["diarization_tests"][0]["segments"]
    lines = [r.split() for r in (speech / "pyaudioanalysis/diarizationExample.segments").read_text().splitlines()]
    rows = [[c.strip(",") for r in line for c in r.split(",") if c] for line in lines if line]
    jobs = {f"ami {k}": (speech / f"ami_30s/{k}.wav", v) for k, v in sorted(_truth(speech / "ami_30s/ami.rttm").items())}
    jobs["falcon"] = (speech / "falcon/test.wav", [(s["start_sec"], s["end_sec"], str(s["speaker_tag"])) for s in segments])
    jobs["pyaudioanalysis"] = (speech / "pyaudioanalysis/diarizationExample.wav", [(float(a), float(b), c) for a, b, c in rows])
    jobs["pyannote"] = (speech / "pyannote_sample/sample.wav", next(iter(_truth(speech / "pyannote_sample/sample.rttm").values())))
    # Held out: no threshold was chosen on it.
    es2004 = speech / "ami_es2004_60s"
    jobs["es2004"] = (es2004 / "mixture.wav", next(iter(_truth(es2004 / "mixture.rttm").values())))
    return jobs


def speakers(models: Models) -> dict[str, Any]:
    """Who speaks: counts of speakers and confusion on files with turns."""
    return {name: confusion(truth, listened(file_clips(path), models)) for name, (path, truth) in with_turns().items()}


COLLARS = (0.25, 0.125, 0.0)
"""Seconds on each side of a true boundary that are not counted (pyannote.metrics is given twice as much)."""


def diarization(models: Models) -> dict[str, Any]:
    """Diarization error of utterances within clips (speakers of two clips are never compared), overlap counted. Needs pyannote.metrics."""
    from pyannote.core import Annotation, Segment, Timeline
    from pyannote.metrics.diarization import DiarizationErrorRate

    def annotation(rows: Sequence[tuple[float, float, Any]]) -> Any:
        made = Annotation()
        for n, (start, end, who) in enumerate(rows):
            made[Segment(start, end), n] = who
        return made

    result: dict[str, Any] = {}
    sums: dict[tuple[str, float], list[float]] = {}
    for name, (path, truth) in with_turns().items():
        media = file_clips(path)
        row: dict[str, Any] = {"speakers": [], "found": [], "wordless": 0, "overlapped": 0}
        sets = (name, "ami_30s") if name.startswith("ami ") else (name,)
        until = 0.0
        for clip, heard in zip((m.clip for m in media), heard_in(media, models), strict=True):
            start, end = max(until, clip.start / 1e6), clip.end / 1e6
            until = max((u.end / 1e6 for u in heard.utterances), default=0.0)
            said = [(u.start / 1e6, u.end / 1e6, u.cluster) for u in heard.utterances]
            real = [t for t in truth if t[1] > start and t[0] < end]
            row["speakers"].append(len({t[2] for t in real}))
            row["found"].append(len({s[2] for s in said}))
            row["wordless"] += sum(not u.words for u in heard.utterances)
            row["overlapped"] += sum(u.overlapped for u in heard.utterances)
            for collar in COLLARS:
                measure = DiarizationErrorRate(collar=2 * collar, skip_overlap=False)
                d = measure(annotation(real), annotation(said), uem=Timeline([Segment(start, end)]), detailed=True)
                parts = [d["false alarm"], d["missed detection"], d["confusion"], d["total"]]
                for kind in sets:
                    sums[kind, collar] = [a + b for a, b in zip(sums.get((kind, collar), [0.0] * 4), parts, strict=True)]
        result[name] = row
    result["ami_30s"] = {}
    for (kind, collar), (false, missed, confused, total) in sums.items():
        result[kind][f"error, collar {collar}"] = round((false + missed + confused) / max(total, 1e-9), 3)
        if collar == COLLARS[0]:
            result[kind]["seconds"] = {
                k: round(v, 1) for k, v in zip(("false", "missed", "confused", "of"), sums[kind, collar], strict=True)
            }
    three = ("falcon", "pyaudioanalysis", "pyannote")
    result["mean of three"] = {
        f"error, collar {c}": round(float(np.mean([result[n][f"error, collar {c}"] for n in three])), 3) for c in COLLARS
    }
    return result


def joined_sentences(seed: int) -> tuple[Sound, Truth]:
    """Return the 60 LibriSpeech sentences of six speakers in a shuffled order, with half a second of silence between them."""
    import av

    files = sorted((DATA / "speech" / "librispeech_speakers").glob("*/*.flac"))
    random.Random(seed).shuffle(files)
    pieces: list[Sound] = []
    truth: Truth = []
    at = 0
    for file in files:
        with av.open(str(file)) as container:
            resampler = av.AudioResampler("flt", "mono", 16000)
            frames = [f for frame in container.decode(audio=0) for f in resampler.resample(frame)]
        pieces += [np.concatenate([f.to_ndarray()[0] for f in frames]).astype(np.float32), np.zeros(8000, np.float32)]
        truth.append((at / 16000, (at + len(pieces[-2])) / 16000, file.parent.name))
        at += len(pieces[-2]) + 8000
    return np.concatenate(pieces), truth


def mixed(models: Models) -> dict[str, Any]:
    """Six people's sentences in turn, and the reel: utterances that hold two speakers, voices of a clip that do, and voices a speaker."""
    sound, truth = joined_sentences(0)
    scenes = json.loads((DATA / "video" / "reel" / "reel_shared.timeline.json").read_text())["timeline"]
    said = [(s["start"], s["end"], s["speakers"][0]) for s in scenes if len(s["speakers"]) == 1]
    jobs: dict[str, tuple[list[Any], Truth]] = {
        "librispeech": (list(sound_clips(sound)), truth),
        "reel": (list(file_clips(DATA / "video" / "reel" / "reel_shared.mp4")), said),
    }
    return {name: mixture(heard_in(clips, models), truth) for name, (clips, truth) in jobs.items()}


def mixture(found: Sequence[SpeechEvidence], truth: Truth) -> dict[str, Any]:
    """Return how much of the speech of each utterance, and of each voice of a clip, is the speech of its main speaker."""
    one: list[Counter[str]] = []
    voices: dict[tuple[str, int], Counter[str]] = {}
    for u in (u for heard in found for u in heard.utterances):
        time_of = Counter[str]()
        for start, end, who in truth:
            time_of[who] += round(1000 * max(0.0, min(end, u.end / 1e6) - max(start, u.start / 1e6)))
        if +time_of:
            one.append(+time_of)
            voices.setdefault((u.clip, u.cluster), Counter()).update(+time_of)
    people = {(clip, who) for (clip, _), c in voices.items() for who, ms in c.items() if ms >= 500}

    def pure(counts: Sequence[Counter[str]]) -> float:
        return round(sum(max(c.values()) for c in counts) / max(1, sum(c.total() for c in counts)), 4)

    return {
        "utterances": len(one),
        "of_two": sum(c.total() - max(c.values()) > 300 for c in one),
        "utterance_purity": pure(one),
        "voice_purity": pure(list(voices.values())),
        "voices_a_speaker": round(len(voices) / max(1, len(people)), 3),
    }


MEASURES: dict[str, Callable[[Models], dict[str, Any]]] = {
    "reel": reel,
    "sentences": sentences,
    "chinese": chinese,
    "silence": silence,
    "speakers": speakers,
    "diarization": diarization,
    "mixed": mixed,
}

if __name__ == "__main__":
    chosen = sys.argv[1:] or list(MEASURES)
    embedded = opened()
    print(json.dumps({name: MEASURES[name](embedded) for name in chosen}, ensure_ascii=False, indent=1))
