-- Rows as text are the same on both sides only if both write them alike.
select set_config('datestyle', 'ISO, MDY', false), set_config('intervalstyle', 'postgres', false), set_config('timezone', 'UTC', false),
       set_config('bytea_output', 'hex', false), set_config('extra_float_digits', '1', false)
