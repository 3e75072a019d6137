"""How a memory is stored: SQLite (the only authoritative copy), LanceDB (vectors of very large memories, rebuildable), media files."""
