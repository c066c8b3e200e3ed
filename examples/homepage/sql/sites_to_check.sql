-- All sites of a host are in one part, whatever the number of parts; `only`: of this host alone, unless it is empty.
select id, url, host
  from good_sites
 where (last_checked_at is null or last_checked_at < %(since)s)
   and (%(only)s = '' or host = %(only)s)
   and mod(hashtext(host)::bigint + 2147483648, %(parts)s) = %(part)s
 order by last_checked_at nulls first, id
