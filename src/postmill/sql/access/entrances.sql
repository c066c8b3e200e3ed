-- Whether anybody can come in, and what keeps requests from being served (NULL: nothing).
select {schema}.login_configured(), {schema}.requests_secured()
