select {schema}.next_escalation($1::text[])
