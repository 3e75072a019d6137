"""The process of the voice model ECAPA-TDNN (speechbrain): reads a checkpoint without running any of its repository's code or YAML."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

LEAST = 8_000
"""Samples of 16 kHz below which sound is filled up with silence: half a second."""

BANDS = 80


class _Net:
    """The network with its features, as speechbrain/spkrec-ecapa-voxceleb's hyperparams.yaml builds them."""

    def __init__(self, file: Path, threads: int, refuse: Any) -> None:
        import torch
        from speechbrain.lobes.features import Fbank
        from speechbrain.lobes.models.ECAPA_TDNN import ECAPA_TDNN
        from speechbrain.processing.features import InputNormalization

        torch.set_num_threads(max(1, threads))
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        if not file.is_file():
            refuse(f"there is no {file}.", "Download it: m3desk models pull ecapa-voxceleb.", "missing")
        try:
            state = torch.load(file, map_location="cpu", weights_only=True)
            shape = shape_of(state)
            net = ECAPA_TDNN(**shape)
            net.load_state_dict(state)
        except Exception as error:  # whatever a foreign file does to the reader
            refuse(
                f"{file} is no checkpoint of ECAPA-TDNN ({type(error).__name__}: {str(error)[:200]}).", "Check it: m3desk models verify."
            )
        self.dimension = int(shape["lin_neurons"])
        self._torch, self._net = torch, net.eval().to(self.device)
        self._features = Fbank(n_mels=BANDS).to(self.device)
        self._normalize = InputNormalization(norm_type="sentence", std_norm=False)

    def embed(self, sound: Any) -> Any:
        """Return the vector of one sound, of length 1."""
        torch = self._torch
        if len(sound) < LEAST:
            sound = torch.nn.functional.pad(torch.as_tensor(sound), (0, LEAST - len(sound)))
        with torch.inference_mode():
            features = self._features(torch.as_tensor(sound)[None].to(self.device))
            vector = self._net(self._normalize(features, torch.ones(1, device=self.device))).flatten().float().cpu()
            return (vector / vector.norm().clamp_min(1e-9)).numpy()


def shape_of(state: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of ECAPA_TDNN that fit a checkpoint; a file of other tensors raises KeyError."""
    blocks = 1 + sum(f"blocks.{n}.tdnn2.conv.conv.weight" in state for n in range(1, 16))
    first = state["blocks.0.conv.conv.weight"].shape
    last = state["mfa.conv.conv.weight"].shape
    inner = [state[f"blocks.{n}.res2net_block.blocks.0.conv.conv.weight"].shape for n in range(1, blocks)]
    scale = 1 + sum(f"blocks.1.res2net_block.blocks.{n}.conv.conv.weight" in state for n in range(64))
    return {
        "input_size": first[1],
        "channels": [first[0], *(state[f"blocks.{n}.tdnn2.conv.conv.weight"].shape[0] for n in range(1, blocks)), last[0]],
        "kernel_sizes": [first[2], *(one[2] for one in inner), last[2]],
        "dilations": [*range(1, blocks + 1), 1],
        "attention_channels": state["asp.tdnn.conv.conv.weight"].shape[0],
        "lin_neurons": state["fc.conv.weight"].shape[0],
        "res2net_scale": scale,
        "se_channels": state["blocks.1.se_block.conv1.conv.weight"].shape[0],
        "global_context": state["asp.tdnn.conv.conv.weight"].shape[1] > last[0],
    }


_net: _Net | None = None


def load(request: dict[str, Any], call: Any) -> dict[str, Any]:
    """Open the checkpoint `file`; return its dimension and the device."""
    global _net
    warnings.simplefilter("ignore")
    call.progress("loading speechbrain")
    _net = _Net(Path(request["file"]), int(request.get("threads", 2)), call.refuse)
    return {"dimension": _net.dimension, "device": _net.device}


def embed(request: dict[str, Any], call: Any) -> Any:
    """Return one array of unit rows, one a sound."""
    import numpy

    if _net is None:
        call.refuse("no model is loaded.")
    assert _net is not None
    return {}, [numpy.stack([_net.embed(sound) for sound in request["arrays"]])]


HANDLERS: dict[str, Any] = {"load": load, "embed": embed}
