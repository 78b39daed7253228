"""MB1xx: what is wrong with the model as it is written."""
