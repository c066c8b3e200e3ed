-- The application's own tables, beside Postmill's schema in the same database, so that items and the end of their job are one
-- transaction. Applying these files again changes nothing.

create table if not exists rss_sources (
    id uuid primary key default gen_random_uuid(),
    name text not null,
    url text not null unique,
    category text not null default '',
    refresh_interval_minutes integer not null default 60
        constraint rss_sources_interval check (refresh_interval_minutes between 15 and 1440),
    is_active boolean not null default true,
    error_count integer not null default 0 constraint rss_sources_errors check (error_count >= 0),   -- in a row
    last_error_message text,
    last_fetched_at timestamptz,            -- the last success, to the minute
    retry_not_before timestamptz,           -- as its server asked by Retry-After
    etag text,
    last_modified text,
    dedup_by text not null default 'guid' constraint rss_sources_dedup check (dedup_by in ('guid', 'content_hash')),
    created_at timestamptz not null default postmill.now(),
    updated_at timestamptz not null default postmill.now()
);

create table if not exists feed_items (
    id uuid primary key default gen_random_uuid(),
    source_id uuid not null references rss_sources on delete cascade,
    item_guid text not null,                -- the feed's own, or a key made of what it has instead
    title text not null,
    url text not null,
    description text not null default '',
    content text not null default '',
    author text not null default '',
    published_at timestamptz,
    fetched_at timestamptz not null default postmill.now(),
    content_hash text not null,             -- MD5 of title and description
    ai_tagged boolean not null default false,
    ai_tags jsonb,
    constraint feed_items_guid unique (source_id, item_guid)
);
create index if not exists feed_items_content on feed_items (source_id, content_hash);
create index if not exists feed_items_latest on feed_items (published_at desc nulls last);
create index if not exists feed_items_untagged on feed_items (fetched_at) where not ai_tagged;
