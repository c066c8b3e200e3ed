select coalesce((select id from social_accounts where remote_id = %(remote_id)s), gen_random_uuid()) as id
