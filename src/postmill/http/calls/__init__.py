"""The operations of the API, each once: a function by the operation's name that makes its Call."""
