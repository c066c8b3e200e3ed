select id, url
  from good_sites
 where id = %(id)s;
