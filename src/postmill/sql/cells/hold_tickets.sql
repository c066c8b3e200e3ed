select h.parked, h.busy, h.running from {schema}.hold_tickets($1::uuid) h
