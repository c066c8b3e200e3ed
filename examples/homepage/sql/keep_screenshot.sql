insert into site_screenshots (site_id, url, final_url, title, status, whole, file, bytes, width, height, captured_at)
values (%(site_id)s, %(url)s, %(final_url)s, %(title)s, %(status)s, %(whole)s, %(file)s, %(bytes)s, %(width)s, %(height)s,
        postmill.now())
on conflict (site_id) do update
   set url = excluded.url, final_url = excluded.final_url, title = excluded.title, status = excluded.status,
       whole = excluded.whole, file = excluded.file, bytes = excluded.bytes, width = excluded.width,
       height = excluded.height, captured_at = excluded.captured_at
returning site_id;
