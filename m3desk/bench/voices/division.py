"""Divides the voice material by speaker and recording into a part for calibration and a part for evaluation.

Calibration may be looked at, tuned with and fitted to. Validation is measured only: no constant, rule or threshold comes from it. The
first set's single speakers and the meetings whose voices return (trn00 to trn03) are calibration; speakers of the other meetings occur
in none of those. All of the second set is validation, and so is the reel. What segmentation's step and windows, and
the similarity that joined voices then, were chosen with before this division existed (all seven meetings, the reel) is no longer unseen;
the second set is.
"""

from __future__ import annotations

SPEAKERS: dict[str, tuple[str, ...]] = {
    "speech/librispeech_speakers": ("1688", "1998", "2033", "2414", "2609", "3005"),
    "speech/speechbrain_asr": ("spk1", "spk2"),
    "speech/katie_steve": ("enroll_katie", "enroll_steve"),
    "speech/customspeech_wer": ("de-DE", "en-US", "zh-CN"),
    "speech/jfk": ("jfk",),
}
"""Folder → single speakers of calibration (`material.calibration_files` reads the speaker from the file's name or folder)."""

CALIBRATION_RECORDINGS = (
    "speech/ami_30s/trn00.wav", "speech/ami_30s/trn01.wav", "speech/ami_30s/trn02.wav", "speech/ami_30s/trn03.wav",
    "speech/ami_es2004_60s/mixture.wav", "speech/pyannote_sample/sample.wav", "speech/falcon/test.wav",
    "speech/pyaudioanalysis/diarizationExample.wav", "speech/katie_steve/katiesteve.wav", "speech/katie_steve/katiesteve_mono.wav",
)  # fmt: skip

VALIDATION_SETS = (
    "l2_english", "acted_english", "acted_german", "talkshow_urdu", "vctk", "libri_chapters", "mandarin",
)  # fmt: skip
"""Folders of `speech2` with labelled single utterances: 63 speakers, none of them in calibration."""

VALIDATION_RECORDINGS = (
    "speech/ami_30s/trn05.wav", "speech/ami_30s/dev00.wav", "speech/ami_30s/tst00.wav", "speech2/conversations/zh_2speakers.flac",
    "speech2/conversations/en_interview.flac", "speech2/conversations/podcast_3men.opus", "video/reel/reel_shared.mp4",
    "video2/collage/collage.mp4", "video2/debate_split/debate_split.mp4", "video2/googlework/googlework_short.mp4",
    "video2/hyland_careers/hyland_careers.mp4", "video2/talkshow/interview.mp4",
)  # fmt: skip


LIPS: dict[str, tuple[str, ...]] = {
    "calibration": (
        "video/grid/bbaf2n.mpg", "video/grid/brbk7n.mpg", "video/grid/id2_vcd_swwp2s.mpg", "video/grid/lbax4n.mpg",
        "video/grid/pwij3p.mpg", "video/hdtf/WDA_BobMenendez_000.mp4", "video/hdtf/WDA_AlexandriaOcasioCortez_000.mp4",
        "video/mie/sample-video.mp4",
    ),
    "validation": (
        "video/grid/lwbsza.mpg", "video/grid/sbia1a.mpg", "video/hdtf/RD_Radio2_000.mp4", "video/hdtf/RD_Radio34_000.mp4",
        "video/obama/obama_speech.mp4", *(f"video2/drama_zh/sample_0000{n}.mp4" for n in ("0167", "0338", "0694", "1073", "2422", "3462",
        "4671")), "video2/googlework/googlework_short.mp4", "video2/talkshow/interview.mp4", "video2/debate_split/debate_split.mp4",
        "video2/hyland_careers/hyland_careers.mp4",
    ),
}  # fmt: skip
"""Clips of people who speak to be seen. Calibration: what the map and figures of `perception.in_step` were fitted to; the reel and the
collage contain pieces of both."""


def told() -> dict[str, list[str]]:
    """Return the division as the benchmark prints it."""
    return {
        "calibration": [*(f"{folder}: {', '.join(who)}" for folder, who in SPEAKERS.items()), *CALIBRATION_RECORDINGS],
        "validation": [*(f"speech2/{name}" for name in VALIDATION_SETS), *VALIDATION_RECORDINGS],
        **{f"lips, {side}": list(clips) for side, clips in LIPS.items()},
    }
