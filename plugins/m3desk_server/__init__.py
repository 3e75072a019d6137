"""Models behind an OpenAI-compatible server: one that the user runs or rents (`server`), or vLLM, started here (`vllm`)."""
