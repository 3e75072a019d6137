"""Where memories rest: SQLite (the truth), LanceDB (a rebuildable index), media files."""
