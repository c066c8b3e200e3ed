select h.settled, (select {schema}.now()) from {schema}.audit_horizon h
