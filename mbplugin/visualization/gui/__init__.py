"""The PyBullet window: verdicts, sliders, replays."""
