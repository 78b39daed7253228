"""MB13x: shapes and meshes of links."""
