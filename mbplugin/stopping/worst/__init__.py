"""The worst stops of a robot: a search over poses, directions, payloads and brake tolerances."""
