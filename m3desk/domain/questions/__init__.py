"""Questions to the user: uncertain merges, splits and links, their ranking, and the reasons for a binding. Pure."""
