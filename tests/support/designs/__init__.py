"""The designs of the examples: what their READMEs answer, line by line."""
