"""The live stream: pings that something of a topic changed, for pages to ask anew. Never what changed."""
