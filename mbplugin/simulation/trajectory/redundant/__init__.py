"""Reactions of a motion that the rigid model does not determine: spread over all rows, or by stated stiffness."""
