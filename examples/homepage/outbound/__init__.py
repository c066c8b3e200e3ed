"""The way out to other people's servers: no private addresses, bounded in size and time."""
