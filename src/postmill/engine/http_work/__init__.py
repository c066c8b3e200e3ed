"""Jobs of workers in other languages, which claim and report over HTTP: what the server does for them."""
