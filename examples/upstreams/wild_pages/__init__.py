"""Stand-in for the pages of the world: good ones, and all that a browser should survive."""
