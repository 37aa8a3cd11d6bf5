"""Reading what strangers wrote: source files, zips, and text that is to be shown."""
