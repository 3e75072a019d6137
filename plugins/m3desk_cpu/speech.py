"""Speech recognition on the CPU: Whisper through faster-whisper (CTranslate2), from a local folder, never from the network."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from m3desk import privacy
from m3desk.errors import BackendMissing, ModelFailed, ModelMissing
from m3desk.ports import QuickTranscript, RecognisedWord, Sound, Transcript

FILES = ("config.json", "model.bin", "tokenizer.json", "vocabulary.txt")

WINDOW = 3000
"""Frames of 10 ms in one pass of Whisper's encoder: 30 s, whatever is in it."""

SHORTEST_REST = 100
"""Frames; a rest shorter than a second after the last time stamp is the end of a word or silence, and not worth a pass."""

TOKENS, TOKENS_A_SECOND = 24, 10
"""Most tokens of a window, beside time stamps: fast English has 6 a second, Chinese 9. A loop would go on to 448."""

SHORTEST_WINDOW, QUICK_REST = 300, 100
"""Frames of the window of a quick pass at least, and of silence after its sound. On 8 LibriSpeech sentences of 3 to 6 s the text differed
from that of a whole window in punctuation and one name; the pass took 0.23 to 0.43 core-seconds instead of 1.3 to 1.75."""

CIRCLES = 2.4
"""Whisper's own threshold of compression above which a text repeats itself."""

os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "16")  # read by CTranslate2's oneDNN when it first computes
"""Compiled operations that oneDNN keeps: those of two or three lengths of sound. With its own limit of 1,024, each new length of a quick
pass took 1 MB and kept it, some 150 MB in an hour of live sound (`bench live course`). For 60 lengths 58 MB, with 16 operations 6 MB, in
the same processor time.
"""

PREPENDED, APPENDED = "\"'“¿([{-", "\"'.。,，!！?？:：”)]}、"


WAITING = "OMP_WAIT_POLICY"
"""What a thread of CTranslate2 does while it waits for the others: `passive`, it sleeps; unset, it spins for a while. Pictures and sound
are perceived at the same time, so there are more busy threads than cores, and a core that one spins on is missed elsewhere: memorizing
8 s of video took 17 to 26 core-seconds with spinning and 13 to 14 without (three runs of each in turn, on two cores that others used too).
Whisper by itself takes the same either way.
"""


def _library() -> Any:
    """Import faster-whisper; return its class of models. Raises BackendMissing.

    GNU's OpenMP, of which CTranslate2's wheel for Linux has a copy of its own, reads `WAITING` only while it is loaded. It is set for that
    long and no longer: llama.cpp and model processes have their own OpenMP, to which this does not apply. A setting of the user's stays.
    """
    ours = WAITING not in os.environ
    if ours:
        os.environ[WAITING] = "passive"
    try:
        from faster_whisper import WhisperModel
    except ImportError as e:
        raise BackendMissing("faster-whisper is not installed.", "Install it: pip install faster-whisper==1.2.1") from e
    finally:
        if ours:
            os.environ.pop(WAITING, None)
    privacy.switch_off()  # faster-whisper has imported ONNX Runtime
    return WhisperModel


class Whisper:
    """Transcribes speech in 99 languages: Whisper base, int8, beam 5, temperature 0, no state between windows."""

    name = "whisper-base-int8"

    def __init__(self, folder: Path, threads: int = 2, *, beam: int = 5) -> None:
        """`folder` holds FILES. Raises BackendMissing, ModelMissing, ModelFailed."""
        folder = Path(folder)
        missing = [name for name in FILES if not (folder / name).is_file()]
        if missing:
            raise ModelMissing(
                f"The weights of {self.name} are not complete in {folder}: no {', '.join(missing)}.", "Download them: m3desk models pull"
            )
        whisper_model = _library()
        try:
            self._model: Any = whisper_model(
                str(folder), device="cpu", compute_type="int8", cpu_threads=threads, num_workers=1, local_files_only=True
            )
        except Exception as e:
            raise ModelFailed(f"Whisper does not open: {e}", "Check it: m3desk models verify") from e
        self._beam = beam

    def transcribe(self, sound: Sound, language: str | None = None) -> Transcript:
        try:
            return self._transcribe(np.ascontiguousarray(sound, np.float32), language)
        except Exception as e:
            raise ModelFailed(f"Recognising speech failed: {e}") from e

    def transcribe_quickly(self, sound: Sound, language: str | None = None) -> QuickTranscript:
        """Take a window as short as the sound, without beam search and word times: a fifth of the work of `transcribe` for 3 to 6 s."""
        try:
            return self._transcribe_quickly(np.ascontiguousarray(sound, np.float32), language)
        except Exception as e:
            raise ModelFailed(f"Recognising speech failed: {e}") from e

    def _transcribe_quickly(self, sound: Sound, language: str | None) -> QuickTranscript:
        from faster_whisper.tokenizer import Tokenizer
        from faster_whisper.transcribe import get_suppressed_tokens, pad_or_trim

        model = self._model
        features = model.feature_extractor(sound)
        size = min(WINDOW, max(SHORTEST_WINDOW, features.shape[-1] + QUICK_REST))
        encoded = model.encode(pad_or_trim(features, size))
        if language is None:
            language = str(model.model.detect_language(encoded)[0][0][0])[2:-2]
        tokenizer = Tokenizer(model.hf_tokenizer, True, task="transcribe", language=language)
        prompt = model.get_prompt(tokenizer, [], without_timestamps=True)
        result = model.model.generate(
            encoded,
            [prompt],
            beam_size=1,
            max_length=min(model.max_length, len(prompt) + TOKENS + size * TOKENS_A_SECOND // 100),
            return_scores=True,
            return_no_speech_prob=True,
            suppress_blank=True,
            suppress_tokens=get_suppressed_tokens(tokenizer, [-1]),
        )[0]
        text = tokenizer.decode(list(result.sequences_ids[0])).strip()
        return QuickTranscript(text, language, float(np.exp(result.scores[0])), float(result.no_speech_prob))

    def _transcribe(self, sound: Sound, language: str | None) -> Transcript:
        """Follow WhisperModel.transcribe of faster-whisper 1.2.1 (pinned, because this uses its internals).

        Differs: the encoder pass of the first window also tells the language (a pass takes 0.9 core-seconds, a third of the work);
        the number of tokens per window is limited; text that repeats itself is tried once more with another beam.
        """
        from faster_whisper.tokenizer import Tokenizer
        from faster_whisper.transcribe import pad_or_trim

        model = self._model
        features = model.feature_extractor(sound)
        frames = features.shape[-1] - 1
        words: list[RecognisedWord] = []
        sure, no_speech, tokenizer, seek = 1.0, 1.0, None, 0
        while seek < frames and (seek == 0 or frames - seek >= SHORTEST_REST):
            size = min(WINDOW, frames - seek)
            encoded = model.encode(pad_or_trim(features[:, seek : seek + size]))
            if language is None:
                token, sure = model.model.detect_language(encoded)[0][0]
                language = str(token)[2:-2]
            if tokenizer is None:
                tokenizer = Tokenizer(model.hf_tokenizer, True, task="transcribe", language=language)
            tokens, silence = self._generate(encoded, tokenizer, size)
            no_speech = min(no_speech, silence)
            found, seek = self._words(encoded, tokenizer, tokens, seek, size)
            words += found
        return Transcript(tuple(words), language, float(sure), no_speech)

    def _generate(self, encoded: Any, tokenizer: Any, size: int) -> tuple[list[int], float]:
        """Return the tokens of one window and the probability that nobody speaks in it."""
        from faster_whisper.transcribe import get_suppressed_tokens

        prompt = self._model.get_prompt(tokenizer, [], without_timestamps=False)
        best: tuple[float, list[int], float] | None = None
        for beam in (self._beam, 1 if self._beam > 1 else 5):
            result = self._model.model.generate(
                encoded,
                [prompt],
                beam_size=beam,
                max_length=min(self._model.max_length, len(prompt) + TOKENS + size * TOKENS_A_SECOND // 100),
                return_scores=True,
                return_no_speech_prob=True,
                suppress_blank=True,
                suppress_tokens=get_suppressed_tokens(tokenizer, [-1]),
                max_initial_timestamp_index=50,
            )[0]
            tokens = list(result.sequences_ids[0])
            circles = circling(tokenizer.decode(tokens))
            if best is None or circles < best[0]:
                best = circles, tokens, float(result.no_speech_prob)
            if circles <= CIRCLES:
                break
        assert best is not None
        return best[1], best[2]

    def _words(self, encoded: Any, tokenizer: Any, tokens: list[int], seek: int, size: int) -> tuple[list[RecognisedWord], int]:
        """Return the words of one window, times from the start of the sound, and the frame from which to go on."""
        model = self._model
        at = seek * 0.01
        segments, after, finished = model._split_segments_by_timestamps(
            tokenizer=tokenizer, tokens=tokens, time_offset=at, segment_size=size, segment_duration=size * 0.01, seek=seek
        )
        model.add_word_timestamps([segments], tokenizer, encoded, size, PREPENDED, APPENDED, last_speech_timestamp=at)
        words = [
            RecognisedWord(float(w["start"]), float(w["end"]), w["word"], float(w["probability"]))
            for s in segments
            for w in s.get("words", ())
            if any(c.isalnum() for c in w["word"])
        ]
        if not finished and words:
            # Without a closing time stamp the window ended in the middle of speech: go on after the last word.
            after = max(seek + 1, round(words[-1].end * 100))
        return words, after if after > seek else seek + size


def circling(text: str) -> float:
    """Return the zlib compression ratio of a text, Whisper's measure of repetition; 0 for a short text."""
    raw = text.encode()
    return len(raw) / len(zlib.compress(raw)) if len(raw) > 60 else 0.0
