"""The PyBullet window with verdicts, sliders and replays."""
