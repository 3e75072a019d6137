"""The window: shows events, passes on commands, decides nothing."""
