select count(*) as sites, (select postmill.now()) as moment from good_sites
