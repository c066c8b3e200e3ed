select h.key, h.owner, h.contact, h.sla_seconds, h.paused, h.budget from {schema}.read_definition_homes($1::text[]) h
