"""Pictures that are drawn here, for the demo and the tests: textures of eight kinds, with noise, none like another."""
