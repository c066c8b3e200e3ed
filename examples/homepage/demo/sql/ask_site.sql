-- A site is submitted; the one that is there, if its address is listed already.
insert into good_sites (url, host, title, rank)
values (%(url)s, %(host)s, %(title)s, 0)
on conflict (url) do update set title = excluded.title
returning id::text
