-- The same payload under another key, in the job's body wherever that is; nothing if it is not what it was.
with body as (
    update {schema}.job j set payload = $3::text::jsonb where j.id = $1::uuid and j.payload = $2::text::jsonb returning j.id
), kept as (
    update {schema}.job_kept k set payload = $3::text::jsonb where k.id = $1::uuid and k.payload = $2::text::jsonb returning k.id
)
select (select count(*) from body) + (select count(*) from kept)
