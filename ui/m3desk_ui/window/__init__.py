"""The main window: actions, docks, layouts, start page, status bar, notices and dialogs."""
