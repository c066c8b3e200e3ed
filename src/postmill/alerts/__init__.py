"""Escalation: who is told of incidents, on which channel, and when. Above the engine, whose rounds and jobs it is made of."""
