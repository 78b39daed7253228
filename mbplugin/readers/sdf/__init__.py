"""Read SDF as a scene."""
