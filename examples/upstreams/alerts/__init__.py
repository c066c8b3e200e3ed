"""Stand-ins for the services that are told of incidents: PagerDuty, Slack, any webhook, and a mail server."""
