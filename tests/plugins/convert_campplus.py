"""Take the ReLU after the last layer out of an export of CAM++, as resources/models/campplus_zh_en_linear_w16.onnx was made.

    python tests/plugins/convert_campplus.py campplus_zh_en_w16.onnx OUT.onnx

In an environment with onnx, which is no part of M3Desk. The input (sha256 c5c06826…, in resources/models up to commit 320ebe8) was made
from a copy of 3D-Speaker's model whose last layer is a batch normalisation and a ReLU. In 3D-Speaker (`speakerlab/models/campplus`:
`DenseLayer(…, config_str='batchnorm_')`), where the weights were trained, it is the batch normalisation alone. Nothing else is changed.
"""

from __future__ import annotations

import sys


def main(source: str, target: str) -> None:
    import onnx

    model = onnx.load(source)
    last = model.graph.node[-1]
    if last.op_type != "Relu" or list(last.output) != [model.graph.output[0].name]:
        raise SystemExit(f"{source} does not end with a ReLU: nothing to do.")
    (before,) = (n for n in model.graph.node if list(n.output) == list(last.input))
    if before.op_type != "BatchNormalization":
        raise SystemExit(f"before the ReLU of {source} is no batch normalisation: it is another model.")
    before.output[0] = last.output[0]
    model.graph.node.remove(last)
    onnx.checker.check_model(model)
    onnx.save(model, target)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(sys.argv[1], sys.argv[2])
