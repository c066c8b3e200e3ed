select count(*) as pictures,
       count(*) filter (where exists (select from picture_tags t where t.picture_id = p.id and t.source = 'zeroshot')) as described,
       count(*) filter (where exists (select from picture_tags t where t.picture_id = p.id and t.source = 'trained')) as recognized,
       (select count(*) from keyword_models m where m.tenant_id = %(tenant_id)s) as models,
       (select count(*) from ingests i where i.tenant_id = %(tenant_id)s) as ingests
  from pictures p where p.tenant_id = %(tenant_id)s
