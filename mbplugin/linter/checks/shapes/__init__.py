"""Sizes, volumes and inertias of shapes and meshes, for rules that compare bodies with them."""
