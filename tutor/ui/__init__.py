"""The Textual app. Screens only show what the engine, the workspace and the progress know."""
