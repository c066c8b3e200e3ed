select u.id from {schema}.audit_unsealed u join {schema}.audit_log l on l.id = u.id order by u.id limit $1::integer
