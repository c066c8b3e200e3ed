"""A stand-in for other people's websites, with pages of all manners."""
