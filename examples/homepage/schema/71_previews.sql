-- Where visitors find the small picture of a good site, once it is at the CDN.
create table if not exists site_previews (
    site_id uuid primary key references good_sites on delete cascade,
    file text not null,                     -- its name there
    url text not null,
    bytes integer not null,
    uploaded_at timestamptz not null default postmill.now()
);
