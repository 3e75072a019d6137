"""The similarity thresholds of each embedding model, measured on labelled pairs. Pure.

Measured 2026-11-21. Voices (CAM++): LibriSpeech test-other, 6 speakers × 10 utterances, 270 same and 1,500 different pairs of utterances,
and 1,500 random comparisons each of "1.0 / 1.5 / 3 s or a whole utterance, or three" with "one or five". Faces (SFace): 25 people of
azure_family, knn, GRID and HDTF, 70 pictures as they are and made small (15–64 pixels), dark, blurred and coarse: 829 pictures,
322,000 different and 7,300 same pairs (of different photos).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from m3desk.domain.evidence import Floats
from m3desk.domain.log import ObservationType

SHORTEST, LONGEST = 0.5, 16.0
"""Seconds of speech that count: longer speech is as good as the longest that was measured."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A logistic regression: how likely it is that two pieces of speech with a certain similarity are one person's.

    `weights`: of 1, cosine, ln shorter, ln longer, cosine × ln shorter, cosine × ln longer (seconds of clear speech of the two).
    """

    weights: tuple[float, float, float, float, float, float]

    @staticmethod
    def columns(cosine: Any, shorter: Any, longer: Any) -> Any:
        """Return the (n, 6) columns that the weights belong to."""
        c, a, b = (np.asarray(x, np.float64) for x in (cosine, shorter, longer))
        a, b = np.log(np.clip(a, SHORTEST, LONGEST)), np.log(np.clip(b, SHORTEST, LONGEST))
        return np.stack([np.ones_like(c), c, a, b, c * a, c * b], axis=-1)

    def ratio(self, cosine: Any, seconds: Any, others: Any) -> Any:
        """Return the log-likelihood ratio (natural) of one person against two; arrays of one shape, or numbers."""
        c, a, b = np.broadcast_arrays(cosine, np.minimum(seconds, others), np.maximum(seconds, others))
        return self.columns(c, a, b) @ np.array(self.weights)


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """The space that voices are compared in by evidence: (d,) the mean of voices, (d, d) a matrix after which one person's vectors differ
    alike in all directions.
    """

    mean: Floats
    matrix: Floats

    def moved(self, rows: Floats) -> Floats:
        """Return (n, d) unit rows as unit rows of this space."""
        moved = (rows - self.mean) @ self.matrix
        return np.asarray(moved / np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-9), np.float32)


STEEP = 25.0
"""Log-likelihood ratio per unit of cosine, for a model whose evidence nobody has measured."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Cosines of one embedding model. `accept`: same person; `margin`: lead over the best other person.

    `least`: microseconds of speech (voices) below which a cluster is never matched across clips, `born`: below which it creates no new
    node unless there is other evidence; `accept_long` holds from `long` microseconds on, in between is interpolated. `whole`: compare all
    rows with all rather than the best few. `several`: enough for two utterances or more against three or more, where the lead is
    `several_margin` (luck evens out). `blurred`: how much more two poor faces need, and `faint`: a very poor face.
    `carried`: enough for a face track, or speech, that continues over the border of a clip, with a lead of `carried_margin`. `similar`: two
    nodes are worth a question; `equal_odds`: cosine at which P(same person) = 0.5; `sure`: two nodes are one person, if both have a `sound`
    amount (microseconds of speech; for faces quality). `doubt`: the similarity of two nodes of good faces that are as often one person as
    two, and the similarity per unit of log odds, for questions. `split_below`: two groups of one node less similar than this are two
    people.
    `stray`: two pieces of 1.5 s of one utterance less similar than this are two people (live subtitles).
    `asked`, `asked_margin`: enough for a search by photo or recording, with that lead.
    `measured`: by us, on labelled pairs; else cautious ones of others, and one person may become several, who can be merged by hand.
    `evidence`: compares voices inside one recording, in the `space` that the statistics in the file `within` of resources/models define.
    `across`: compares voices of clips and files there; who is similar enough is not taken for one person if its ratio is below `agreed`.
    Two nodes that were left apart are as likely one person as two at a ratio of `apart`. `space` is given by `calibrated.calibrated` only;
    without it nothing is compared by `across`.
    """

    accept: float
    margin: float
    accept_long: float | None = None
    least: int = 0
    born: int = 0
    long: int = 0
    whole: bool = False
    several: float | None = None
    several_margin: float = 0.0
    blurred: float = 0.0
    faint: float = 0.0
    carried: float | None = None
    carried_margin: float = 0.0
    similar: float | None = None
    equal_odds: float = 0.5
    sure: float | None = None
    sound: float = 0.0
    doubt: tuple[float, float] | None = None
    split_below: float | None = None
    stray: float = 0.35
    asked: float | None = None
    asked_margin: float = 0.0
    measured: bool = True
    evidence: Evidence | None = None
    within: str | None = None
    across: Evidence | None = None
    agreed: float = 3.0
    apart: float = 2.85
    space: Space | None = field(default=None, compare=False, repr=False)

    def comparison(self) -> Evidence:
        """Return the evidence by which voices of one recording are compared; of a model without any, by the cosine alone."""
        return self.evidence or Evidence((-STEEP * self.equal_odds, STEEP, 0.0, 0.0, 0.0, 0.0))

    def threshold(self, duration: int, quality: float = 1.0, better: float = 1.0) -> float:
        """Return the similarity needed. `duration`: microseconds of the shorter side; `quality`, `better`: the lower and the higher one."""
        need = self.accept
        if self.accept_long is not None and self.long > self.least:
            share = min(1.0, max(0.0, (duration - self.least) / (self.long - self.least)))
            need += share * (self.accept_long - self.accept)
        need += self.more_if_poor(better)
        need += self.faint * min(1.0, max(0.0, (FAINT - quality) / FAINT))
        return round(need, 6)

    def more_if_poor(self, better: float) -> float:
        """Return how much more similarity two faces need of which the better one has this quality."""
        return self.blurred * min(1.0, max(0.0, (CLEAR - better) / (CLEAR - POOR)))


CLEAR, POOR, FAINT = 0.6, 0.4, 0.2
"""Qualities of faces: as in a portrait; blurred or 30 pixels wide; dark, turned away or 20 pixels wide."""

# Faces. Different people, both as they are: 99.9 % below .32, most .48 (brother and sister); one good and one of any quality: most
# .48; two poor ones: 99.9 % below .46, most .72, where same .57 at the median. The same, both good, different photos: 1 % below .54,
# 5 % below .66. One person across rooms and clothes .75–.85 (webrtc_two_men), within a scene .95 and more. A dark profile (quality
# .06) was .48 like the same man's face from the front (reel); `faint` keeps such from being joined unasked. Photos of people who are not
# there (58 × 4 memories): most .36, and .11 of lead there.
# `doubt`: a logistic regression on 406 pictures of 10 of these people (azure_family and two of knn, none of them in a film here), as they
# are and made poor: 4,300 same and 73,000 different pairs of photos, where one pair in 100 to 300 is one person, as in a memory: .43–.45;
# .024. Poor pictures make strangers no more similar where the other one is good, so a faint one needs no more for a question.
FACES = Calibration(
    accept=0.50, margin=0.08, blurred=0.12, faint=0.08, carried=0.36, similar=0.36, sure=0.60, sound=0.5, split_below=0.36,
    doubt=(0.44, 0.025), asked=0.40, asked_margin=0.20,
)  # fmt: skip
# Voices inside one recording (tests/perception/calibrate_voices.py): 14 speakers at three speeds in 300 simulated scenes, and 16 in
# meetings and talks; each set is left out once. Mean of sets: cost of the ratios .294 bits (short pieces not repeated: .336; the rectified
# vectors that M3Desk made before: .383); of pairs with 1.5 s and more on both sides a ratio of 3 finds 83 % of the same voice (78; 73 %)
# and few strangers (none of these; none; .1 %). Spread of the weights over sets: .25, .50, .31, .10, .50, .24.
EVIDENCE = Evidence((-3.120, 13.087, -1.377, -1.781, -0.612, 2.840))
# Voices of two recordings (calibrate_voices.py): the same pieces, one side from one scene, the other from one to three others, each with
# its own room, noise or line. Each set of speakers left out: cost .235 bits, without the meetings .108 (not repeated .293 and .138;
# rectified .319 and .169; spread of the weights .52, .61, .29, .61, .40, 1.17, most of it the meetings); the number of utterances adds
# nothing. By the rectified vectors, simulated memories of 3 to 6 of these scenes (by a program that was not kept), each set left out of
# statistics and weights, precision / recall of pairs across scenes: by similarity (below) .976 / .868, with a ratio of 3 or more as well
# .988 / .859; where copies of a voice at other speeds are further people in the same memory .751 / .819 and .818 / .815. From 4 on recall
# falls by .03. By the ratio alone these memories do better (.996 / .864 at 4), but validation did not (precision .81, recall .77 for .83
# and .72), so similarity decides and evidence must agree.
ACROSS = Evidence((-2.068, 12.195, -2.065, -1.057, 1.183, 2.721))
# Voices by the rectified vectors, the mean of all pairs of rows: strangers are .38, 99 % below .54 and most .60 where both sides are one
# utterance; most .57 against five, .52 where three are compared with five. The same person, 1 % below: .49 at 1.0 s against one utterance,
# .59 at 1.5 s, .66 at 3 s and .70 whole against five. A speaker left out of five others, each time again: taken for one of them in 0–0.2 %
# of cases by (.60, .06) (0.7 % of 3 s against 3 s), in 0.1–0.5 % by `several`, which finds 99.9 % of those known. The cosine of means does
# worse: it raises whoever is mixed or noisy (a stranger of another AMI meeting came to .64, by pairs .49). Noise of 10 dB or an echo cost
# .05 at most; through a telephone half are lost, so a caller is often somebody new at first. `similar` to `split_below` are cosines of
# means: strangers .64.
RECTIFIED = Calibration(
    accept=0.60, margin=0.06, least=1_000_000, born=1_500_000, whole=True, several=0.55, several_margin=0.08, carried=0.48,
    carried_margin=0.10, similar=0.54, equal_odds=0.64, sure=0.76, sound=4_000_000, split_below=0.62,
    evidence=Evidence((-2.297, 12.207, -1.795, -1.382, 0.399, 2.510)), within="campplus_within.npy",
    across=Evidence((-1.684, 12.818, -2.170, -0.640, 3.402, 0.943)),
)  # fmt: skip
# Voices by CAM++ as it was trained (m3desk_cpu/voices.py; the export used before had a ReLU after the last layer), short pieces repeated.
# Strangers of two recordings are .09 at the median, 99 % below .35, most .52 (rectified: .37, .52, .62). Each cosine lets through as many
# of them as the rectified one (`calibrate_voices.py --model campplus`), and more of the same voice: by `accept` 61 % for 53, by `several`
# 85 % for 76. The leads are 1.6 times as large, for cosines of strangers vary 1.6 times as much. `sure` is stricter (.67 would be as
# strict): a node that is half another's has a cosine of .71 with either of two voices that are not alike at all, and more with two that
# are; evidence must agree besides. `stray`: of one voice in one recording 1 % are below .20 (rectified .38).
VOICES = replace(
    RECTIFIED, accept=0.47, margin=0.10, several=0.38, several_margin=0.13, carried=0.27, carried_margin=0.16, similar=0.23,
    equal_odds=0.40, sure=0.75, split_below=0.36, stray=0.15, evidence=EVIDENCE, within="campplus_linear_within.npy", across=ACROSS,
)  # fmt: skip
# Voices by GE2E (m3desk_cpu/ge2e.py; `calibrate_voices.py --model ge2e`) on the same pieces: cost inside one recording .405 bits (CAM++
# .294), of two recordings .594 (.235): the weaker model, above all across recordings. Its cosines lie higher: with those below as many
# strangers of other recordings are let through as with those of RECTIFIED (pieces of 1 s and more); the leads are as much larger as
# they vary.
GE2E = replace(
    VOICES, accept=0.71, margin=0.07, several=0.67, several_margin=0.09, carried=0.60, carried_margin=0.12, similar=0.66, equal_odds=0.74,
    sure=0.865, split_below=0.73, stray=0.35, evidence=Evidence((-3.347, 11.025, -2.866, -0.923, 3.393, 1.457)), within="ge2e_within.npy",
    across=Evidence((-0.901, 4.731, -1.217, -0.756, 3.032, 2.831)),
)  # fmt: skip
# Faces by dlib's ResNet, chips cut by YuNet's landmarks (dlib_faces.py), on the same 829 pictures: its vectors lie close, strangers
# at .83. Different people, both good: 99 % below .906, 99.9 % .923, most .932; one good: most .957; two poor ones: 99.9 % .947, most .972.
# The same, both good, different photos: 1 % below .910, 5 % .925, half .967; two poor ones half .943.
DLIB_FACES = Calibration(
    accept=0.935, margin=0.010, blurred=0.020, faint=0.010, carried=0.910, similar=0.920, sure=0.960, sound=0.5, split_below=0.900,
    asked=0.925, asked_margin=0.030,
)  # fmt: skip
# Not measured: no weights of these could be had where this was written. ArcFace (packs of InsightFace, AuraFace): strangers lie around 0,
# and M3-Agent joins at a mean of .3 (its configuration); ECAPA: speechbrain verifies at .25 (its SpeakerRecognition). Ours are higher, so
# that a mistake is rather one person twice than two in one; no question is asked and no two nodes are joined by them (`similar`, `sure`).
ARCFACE = Calibration(accept=0.42, margin=0.10, blurred=0.08, faint=0.08, sound=0.5, equal_odds=0.35, measured=False)
ECAPA = Calibration(accept=0.50, margin=0.10, least=1_000_000, born=1_500_000, equal_odds=0.40, measured=False)
CALIBRATIONS: Mapping[str, Calibration] = {
    "sface": FACES, "dlib": DLIB_FACES, "arcface": ARCFACE, "campplus-zh-en-w16": RECTIFIED, "campplus": VOICES, "cam++": VOICES,
    "ge2e": GE2E, "ecapa": ECAPA,
}  # fmt: skip
FACE_DEFAULT = Calibration(accept=0.55, margin=0.08, measured=False)
VOICE_DEFAULT = Calibration(accept=0.65, margin=0.08, least=1_000_000, measured=False)


def calibration(model: str, type_: ObservationType) -> Calibration:
    """Return the thresholds of a model by how its name begins, the first that fits; cautious ones for a model nobody has calibrated."""
    name = model.lower()
    for key, value in CALIBRATIONS.items():
        if name.startswith(key):
            return value
    return FACE_DEFAULT if type_ == "face" else VOICE_DEFAULT
