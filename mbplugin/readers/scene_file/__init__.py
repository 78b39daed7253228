"""The ``.scene.toml`` file: models, closures and everything around them, as one scene."""
