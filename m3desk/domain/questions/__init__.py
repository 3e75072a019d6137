"""Questions to a person: which merges, splits and links are unsure, how to rank them, and why the memory believes what it does. Pure."""
