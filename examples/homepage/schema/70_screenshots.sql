-- The last picture of each good site; the file is in the folder of SCREENSHOT_FOLDER.
create table if not exists site_screenshots (
    site_id uuid primary key references good_sites on delete cascade,
    url text not null,                      -- that was captured
    final_url text not null,                -- where its redirects led to
    title text not null default '',
    status integer not null,
    whole boolean not null,                 -- false: the page had not loaded in time, or wanted too many bytes
    file text not null,
    bytes integer not null,
    width integer not null,
    height integer not null,
    captured_at timestamptz not null default postmill.now()
);
