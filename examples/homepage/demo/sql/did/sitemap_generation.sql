-- `listed` are the ids that stand in the files.
select count(*) as "pages listed" from good_sites where starts_with(title, %(portal)s || ': ') and id = any (%(listed)s::uuid[])
