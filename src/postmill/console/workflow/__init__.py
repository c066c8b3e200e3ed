"""A workflow as a drawing."""
