-- Clicks on good sites. P14: a click is kept only of a visitor who has consented, and for 90 days; counts are nobody's.
create table if not exists clicks (
    id bigint generated always as identity primary key,
    site_id uuid not null references good_sites on delete cascade,
    visitor uuid not null,
    consent boolean not null constraint clicks_consent check (consent),
    clicked_at timestamptz not null default postmill.now(),
    rolled_up boolean not null default false        -- whether click_rollup has it; never deleted for its age before
);
create index if not exists clicks_waiting on clicks (id) where not rolled_up;
create index if not exists clicks_old on clicks (clicked_at) where rolled_up;
create index if not exists clicks_visitor on clicks (visitor);
create index if not exists clicks_site on clicks (site_id);

create table if not exists click_rollup (
    site_id uuid not null references good_sites on delete cascade,
    hour timestamptz not null,              -- its beginning
    clicks bigint not null constraint click_rollup_clicks check (clicks > 0),
    primary key (site_id, hour)
);
