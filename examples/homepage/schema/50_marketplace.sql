-- The marketplace: who sells what, and until when.

create table if not exists marketplace_members (
    id uuid primary key default gen_random_uuid(),
    name text not null,
    email text not null unique constraint marketplace_members_email check (email ~ '^[^\s@<>()",;:\\[:cntrl:]]+@[^\s@<>()",;:\\[:cntrl:]]+$'),
    created_at timestamptz not null default postmill.now()
);

create table if not exists marketplace_listings (
    id uuid primary key default gen_random_uuid(),
    seller_id uuid not null references marketplace_members on delete cascade,
    title text not null,
    status text not null default 'active'
        constraint marketplace_listings_status check (status in ('active', 'expired', 'sold', 'removed')),
    term integer not null default 1,        -- one more with each renewal
    expires_at timestamptz not null,
    expired_at timestamptz,
    created_at timestamptz not null default postmill.now(),
    updated_at timestamptz not null default postmill.now()
);
create index if not exists marketplace_listings_ending on marketplace_listings (expires_at) where status = 'active';

-- One reminder for each listing and term.
create table if not exists listing_reminders (
    listing_id uuid not null references marketplace_listings on delete cascade,
    term integer not null,
    created_at timestamptz not null default postmill.now(),
    primary key (listing_id, term)
);
