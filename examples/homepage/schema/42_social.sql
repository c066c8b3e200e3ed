-- Accounts of social networks whose posts are shown. Their tokens lie here encrypted only: see social/vault.py.

create table if not exists social_accounts (
    id uuid primary key default gen_random_uuid(),
    remote_id text not null unique,         -- the account's id there
    handle text not null,
    status text not null default 'connected' check (status in ('connected', 'reauthorize')),
    tokens bytea not null,
    version integer not null default 1,     -- grows with each renewal: who has read an older one writes nothing
    expires_at timestamptz not null,        -- of the access token
    renewing_until timestamptz,             -- somebody renews the tokens, or has died while doing so
    refreshed_at timestamptz,               -- the last success
    last_error text,
    created_at timestamptz not null default postmill.now()
);

create table if not exists social_posts (
    account_id uuid not null references social_accounts on delete cascade,
    post_id text not null,
    content text not null,
    posted_at timestamptz not null,
    primary key (account_id, post_id)
);
create index if not exists social_posts_latest on social_posts (posted_at desc);
