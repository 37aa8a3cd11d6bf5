"""For those who write packs: whether a lesson holds what it promises."""
