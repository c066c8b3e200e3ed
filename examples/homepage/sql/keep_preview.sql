-- Where visitors find the picture of a site; `file` of the answer is the one that they have found until now. A site that is
-- gone has none.
with before as (
    select file from site_previews where site_id = %(site_id)s
), kept as (
    insert into site_previews (site_id, file, url, bytes)
    select id, %(file)s, %(url)s, %(bytes)s from good_sites where id = %(site_id)s
    on conflict (site_id) do update
       set file = excluded.file, url = excluded.url, bytes = excluded.bytes, uploaded_at = (select postmill.now())
    returning site_id
)
select (select file from before) as file from kept
