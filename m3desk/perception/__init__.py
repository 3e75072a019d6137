"""Perception: what is seen and heard in one clip, as evidence, before any person is recognised."""
