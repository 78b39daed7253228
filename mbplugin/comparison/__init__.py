"""Whether PyBullet converges to our motion: parameters, statics, motions, and the reasons."""
