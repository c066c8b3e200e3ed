"""A mail server of one's own: SMTP that takes, refuses and stumbles by a plan, and IMAP for what came in."""
