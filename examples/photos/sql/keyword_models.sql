select m.keyword, m.mean, m.scale, m.weights, m.bias, m.accuracy, m.learned_from from keyword_models m
 where m.tenant_id = %(tenant_id)s and m.model = %(model)s
 order by m.keyword
