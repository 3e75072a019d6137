"""Memory writing: composes episodic sentences from a clip's evidence, and semantic memories from those."""
