"""Where memories rest: SQLite (the truth), LanceDB (vectors of very large memories, rebuildable), media files."""
