-- Accounts that have just been connected are due, whenever they were refreshed before.
update social_accounts set refreshed_at = null returning id
