"""The language server: findings, hovers and fixes of ``lint`` in editors, while a model is written."""
