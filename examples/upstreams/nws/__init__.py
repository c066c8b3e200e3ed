"""Stand-in for the National Weather Service and for Open-Meteo."""
