"""The Textual app. Screens only show the state of the engine, the workspace and the progress."""
