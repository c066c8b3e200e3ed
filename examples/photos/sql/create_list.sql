insert into lists (tenant_id, name) values (%(tenant_id)s, %(name)s) returning id
