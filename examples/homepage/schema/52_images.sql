-- Pictures of listings. The files are in the folder of the settings: uploads/ for what has come, sizes/ for what is shown.

create table if not exists listing_images (
    id uuid primary key default gen_random_uuid(),
    listing_id uuid not null references marketplace_listings on delete cascade,
    status text not null default 'waiting' constraint listing_images_status check (status in ('waiting', 'ready', 'refused')),
    refused_reason text,
    bytes bigint not null,
    checksum text not null,                 -- SHA-256 of the upload
    width integer,                          -- upright
    height integer,
    created_at timestamptz not null default postmill.now(),
    processed_at timestamptz
);
create index if not exists listing_images_listing on listing_images (listing_id, created_at);

create table if not exists listing_image_sizes (
    image_id uuid not null references listing_images on delete cascade,
    width integer not null,
    height integer not null,
    bytes bigint not null,
    checksum text not null,                 -- SHA-256, of which the file's name is made
    primary key (image_id, width, height)
);
