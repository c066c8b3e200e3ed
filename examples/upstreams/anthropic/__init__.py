"""A stand-in for the part of the Anthropic API that answers messages: `POST /v1/messages`, without streaming."""
