"""SDF as a scene."""
