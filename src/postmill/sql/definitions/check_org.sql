-- Does the organization exist, and is the project, if Postmill knows it, one of its own?
select exists (select from {schema}.tenant t where t.id = $1::uuid),
       $2::uuid is null or not exists (select from {schema}.project p where p.id = $2::uuid and p.tenant_id <> $1::uuid)
