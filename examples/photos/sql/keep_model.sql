insert into keyword_models (tenant_id, model, keyword, mean, scale, weights, bias, accuracy, learned_from)
values (%(tenant_id)s, %(model)s, %(keyword)s, %(mean)s, %(scale)s, %(weights)s, %(bias)s, %(accuracy)s, %(learned_from)s)
on conflict (tenant_id, model, keyword) do update
   set mean = excluded.mean, scale = excluded.scale, weights = excluded.weights, bias = excluded.bias,
       accuracy = excluded.accuracy, learned_from = excluded.learned_from, trained_at = now()
