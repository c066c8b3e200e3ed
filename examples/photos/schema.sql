-- The application's own tables, beside Postmill's schema in the same database: what changes and the event that tells of
-- it are one transaction. Every row has its tenant. Applying this file again changes nothing.

create table if not exists providers (
    id uuid primary key default gen_random_uuid(),
    tenant_id uuid not null,
    account_id text not null,          -- dbid:… of Dropbox: webhooks name it
    folder text not null default '/',
    sealed_token bytea not null,       -- encrypted; see tokens.py
    connected_at timestamptz not null default now(),
    changed_at timestamptz,            -- the last webhook
    unique (tenant_id, account_id)
);
create index if not exists providers_account on providers (account_id);

-- Where the listing of a folder goes on. began_at is set while it is listed from the beginning.
create table if not exists provider_cursors (
    provider_id uuid not null references providers on delete cascade,
    path_prefix text not null,
    cursor text,
    began_at timestamptz,
    primary key (provider_id, path_prefix)
);

create table if not exists pictures (
    id uuid primary key default gen_random_uuid(),
    tenant_id uuid not null,
    provider_id uuid not null references providers on delete cascade,
    path_lower text not null,
    name text not null,
    rev text not null,
    content_hash text not null,        -- the file's name in the library, too
    ingest_id uuid not null,           -- the job that brought this revision
    seen_at timestamptz not null,
    unique (provider_id, path_lower)
);
create index if not exists pictures_tenant on pictures (tenant_id, ingest_id);

-- A sync that brought something, once all of it is there. The id is that of its job.
create table if not exists ingests (
    id uuid primary key,
    tenant_id uuid not null,
    provider_id uuid not null references providers on delete cascade,
    pictures integer not null,
    completed_at timestamptz not null default clock_timestamp()
);

-- Pictures that people have put together and named keywords of: what the models learn from.
create table if not exists lists (
    id uuid primary key default gen_random_uuid(),
    tenant_id uuid not null,
    name text not null,
    created_at timestamptz not null default now()
);
create table if not exists list_items (
    list_id uuid not null references lists on delete cascade,
    picture_id uuid not null references pictures on delete cascade,
    keywords text[] not null,
    primary key (list_id, picture_id)
);

create table if not exists keyword_models (
    tenant_id uuid not null,
    model text not null,               -- the name that payloads give: a set of keywords that were learned together
    keyword text not null,
    mean float8[] not null,
    scale float8[] not null,
    weights float8[] not null,
    bias float8 not null,
    accuracy float8 not null,          -- balanced, on pictures that were held out
    learned_from integer not null,
    trained_at timestamptz not null default now(),
    primary key (tenant_id, model, keyword)
);

create table if not exists picture_tags (
    picture_id uuid not null references pictures on delete cascade,
    source text not null check (source in ('trained', 'zeroshot')),
    keyword text not null,
    score float8 not null check (score between 0 and 1),
    primary key (picture_id, source, keyword)
);
