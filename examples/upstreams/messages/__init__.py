"""Stand-ins for the services that carry messages: Twilio, Expo and Ably over HTTP. The mail server is `..alerts.mailbox`."""
