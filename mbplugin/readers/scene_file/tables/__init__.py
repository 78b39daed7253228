"""The tables of a ``.scene.toml`` file, as pydantic models; every key has a description, unknown keys are errors."""
