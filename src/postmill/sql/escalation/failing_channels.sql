select s.channel from {schema}.channel_state s where s.failing_since is not null
