"""The chat: one question with its rounds and answer, and the dock with its history."""
