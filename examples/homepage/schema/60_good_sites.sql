-- The Good Sites directory: what visitors have submitted, who voted for it, and how its links stand.
create table if not exists good_sites (
    id uuid primary key default gen_random_uuid(),
    url text not null constraint good_sites_url unique,
    host text not null,                     -- of the url, with a port that is not the scheme's own: asked one at a time
    title text not null,
    submitted_at timestamptz not null default postmill.now(),
    updated_at timestamptz not null default postmill.now(),     -- when what its page shows has changed
    status text not null default 'live' constraint good_sites_status check (status in ('live', 'dead')),
    rank double precision not null,         -- see directory/rank.py; the highest first
    failures integer not null default 0 constraint good_sites_failures check (failures >= 0),      -- in a row
    last_error text,                        -- of the last check, where that was no success
    last_checked_at timestamptz,
    moved_to text                           -- where permanent redirects led to when it was last well
);
create index if not exists good_sites_ranked on good_sites (rank desc, id) where status = 'live';
create index if not exists good_sites_submitted on good_sites (submitted_at, id) where status = 'live';

create table if not exists good_site_votes (
    site_id uuid not null references good_sites on delete cascade,
    visitor uuid not null,
    voted_at timestamptz not null default postmill.now(),
    primary key (site_id, visitor)          -- one vote each
);
