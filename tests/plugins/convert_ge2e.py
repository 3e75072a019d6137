"""Convert Resemblyzer's GE2E encoder to resources/models/ge2e_w16.onnx, and compare both.

    python tests/plugins/convert_ge2e.py pretrained.pt OUT.onnx

In an environment of its own with torch 2.13.0, onnx 1.23.2, onnxruntime and librosa 0.11.0: none of them but onnxruntime is part of M3Desk.
`pretrained.pt`: of the wheel resemblyzer 0.1.4 of PyPI (Apache-2.0; sha256 8f12eb2f…). Its optimizer's state and the two
numbers of its training loss are left out; weights are stored as fp16. Prints the least cosine of vectors of noise and tones by torch and
librosa with those of the file and `m3desk_cpu.ge2e`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

HIDDEN, LAYERS, MELS = 256, 3, 40


def _gates(weights: Any) -> Any:
    """Return the gates of an LSTM in the order of ONNX (input, output, forget, cell); torch has input, forget, cell, output."""
    i, f, g, o = np.split(weights, 4)
    return np.concatenate([i, o, f, g])


def graph(state: dict[str, Any]) -> Any:
    """Return the ONNX model: (batch, frames, 40) powers → (batch, 256) numbers, not scaled."""
    from onnx import TensorProto, checker, helper, numpy_helper

    kept = [numpy_helper.from_array(np.array([1]), "one"), numpy_helper.from_array(np.array([0]), "zero")]
    nodes = [helper.make_node("Transpose", ["mels"], ["x0"], perm=[1, 0, 2])]

    def weight(name: str, values: Any) -> None:
        kept.append(numpy_helper.from_array(values.astype(np.float16), f"{name}_16"))
        nodes.append(helper.make_node("Cast", [f"{name}_16"], [name], to=TensorProto.FLOAT))

    for n in range(LAYERS):
        weight(f"w{n}", _gates(state[f"lstm.weight_ih_l{n}"])[None])
        weight(f"r{n}", _gates(state[f"lstm.weight_hh_l{n}"])[None])
        weight(f"b{n}", np.concatenate([_gates(state[f"lstm.bias_{side}_l{n}"]) for side in ("ih", "hh")])[None])
        nodes.append(helper.make_node("LSTM", [f"x{n}", f"w{n}", f"r{n}", f"b{n}"], [f"y{n}", f"h{n}"], hidden_size=HIDDEN))
        if n + 1 < LAYERS:
            nodes.append(helper.make_node("Squeeze", [f"y{n}", "one"], [f"x{n + 1}"]))
    nodes.append(helper.make_node("Squeeze", [f"h{LAYERS - 1}", "zero"], ["last"]))
    weight("lw", state["linear.weight"].T)
    weight("lb", state["linear.bias"])
    nodes += [helper.make_node("MatMul", ["last", "lw"], ["m"]), helper.make_node("Add", ["m", "lb"], ["a"])]
    nodes.append(helper.make_node("Relu", ["a"], ["voice"]))
    taken = helper.make_tensor_value_info("mels", TensorProto.FLOAT, ["batch", "frames", MELS])
    given = helper.make_tensor_value_info("voice", TensorProto.FLOAT, ["batch", HIDDEN])
    model = helper.make_model(helper.make_graph(nodes, "ge2e", [taken], [given], kept), opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    checker.check_model(model)
    return model


def least_cosine(state: dict[str, Any], path: Path) -> float:
    """Return the least cosine of vectors of sounds of 1.6 s by torch and librosa with those of this project."""
    import librosa
    import onnxruntime
    import torch
    from m3desk_cpu.ge2e import mel_power

    lstm, linear = torch.nn.LSTM(MELS, HIDDEN, LAYERS, batch_first=True), torch.nn.Linear(HIDDEN, HIDDEN)
    for module, name in ((lstm, "lstm."), (linear, "linear.")):
        module.load_state_dict({k.removeprefix(name): torch.tensor(v) for k, v in state.items() if k.startswith(name)})
    session = onnxruntime.InferenceSession(str(path))
    random, least = np.random.default_rng(0), 1.0
    for n in range(20):
        tone = np.sin(2 * np.pi * 90 * (1 + n / 4) * np.arange(25_440) / 16_000) ** 9
        sound = (0.05 * tone + 0.01 * random.standard_normal(25_440)).astype(np.float32)
        mels = librosa.feature.melspectrogram(y=sound, sr=16_000, n_fft=400, hop_length=160, n_mels=MELS).T.astype(np.float32)
        with torch.no_grad():
            theirs = torch.relu(linear(lstm(torch.tensor(mels)[None])[1][0][-1]))[0].numpy()
        ours = session.run(None, {"mels": mel_power(sound)[None]})[0][0]
        least = min(least, float(theirs @ ours / np.linalg.norm(theirs) / np.linalg.norm(ours)))
    return least


def main(words: list[str]) -> None:
    import onnx
    import torch

    state = torch.load(words[0], map_location="cpu", weights_only=True)["model_state"]
    values = {name: tensor.numpy() for name, tensor in state.items()}
    onnx.save(graph(values), words[1])
    print(f"least cosine with torch and librosa: {least_cosine(values, Path(words[1])):.6f}")


if __name__ == "__main__":
    main(sys.argv[1:])
