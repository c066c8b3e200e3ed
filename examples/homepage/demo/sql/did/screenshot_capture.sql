select count(*) filter (where p.captured_at >= %(since)s) as pictures, count(*) filter (where v.uploaded_at >= %(since)s) as "on CDN"
  from good_sites s
  left join site_screenshots p on p.site_id = s.id
  left join site_previews v on v.site_id = s.id
 where starts_with(s.title, %(portal)s || ': ')
