"""The whole portal on one machine, with stand-ins for the rest of the world: `python -m examples.homepage`."""
