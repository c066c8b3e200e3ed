delete from keyword_models m where m.tenant_id = %(tenant_id)s and m.model = %(model)s
