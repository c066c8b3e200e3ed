"""Weather: forecasts of the whole world, and warnings in the USA."""
