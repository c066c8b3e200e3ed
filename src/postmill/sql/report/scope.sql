-- For the rest of the transaction: policies of the application's own tables may ask for this setting.
select set_config('postmill.tenant_id', $1::text, true)
