"""Stands in for vLLM's server in tests: takes its arguments, answers as vLLM does, or ends as it does without a card.

The folder of the model may hold `ends`, the text it ends with as vLLM's log has it; `slow`: it says a word every 50 ms; `loads slowly`.
"""

import os
import sys
import time
from pathlib import Path

sys.path.insert(0, os.environ["STAND_IN"])
from tests.plugins.servers.scripted import ModelServer, slow

given = dict(zip(sys.argv[1::2], sys.argv[2::2], strict=False))
folder = Path(given["--model"])
print("INFO 11-22 13:00:00 [loader.py:12] Loading weights took 0.02 seconds", flush=True)
time.sleep(3 if (folder / "loads slowly").exists() else 0)
if (folder / "ends").exists():
    sys.exit((folder / "ends").read_text())
print("(EngineCore pid=7) INFO 11-22 13:00:01 [kv_cache_utils.py:1287] GPU KV cache size: 131,072 tokens", flush=True)
server = ModelServer(
    "vllm",
    key=os.environ["VLLM_API_KEY"],
    context=int(given["--max-model-len"]),
    port=int(given["--port"]),
    model=given["--served-model-name"],
)
if (folder / "slow").exists():
    server.faults += [slow]
(folder / "arguments").write_text("\n".join(sys.argv[1:]))
(folder / "pid").write_text(str(os.getpid()))
print("INFO:     Application startup complete.", flush=True)
time.sleep(600)
