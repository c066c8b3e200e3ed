select g.note::text, g.age from {schema}.server_gauges() g
