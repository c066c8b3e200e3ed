-- Mail between buyers and sellers who do not see each other's addresses.

-- Each side of a conversation has an address of its own, the mask: what is sent to it reaches that side.
create table if not exists conversations (
    id uuid primary key default gen_random_uuid(),
    listing_id uuid not null references marketplace_listings on delete cascade,
    buyer_id uuid not null references marketplace_members on delete cascade,
    buyer_mask text not null unique default 'm' || replace(gen_random_uuid()::text, '-', ''),
    seller_mask text not null unique default 'm' || replace(gen_random_uuid()::text, '-', ''),
    created_at timestamptz not null default postmill.now(),
    unique (listing_id, buyer_id)
);

-- What is to be sent, or was. Its Message-ID is made of `id`, and so never changes.
create table if not exists mail_messages (
    id uuid primary key default gen_random_uuid(),
    conversation_id uuid references conversations on delete cascade,
    sender text constraint mail_messages_sender check (sender in ('buyer', 'seller')),    -- null: the marketplace itself
    recipient_id uuid not null references marketplace_members on delete cascade,
    parent_id uuid references mail_messages on delete set null,
    kind text not null constraint mail_messages_kind check (kind in ('inquiry', 'reply', 'reminder', 'notice')),
    subject text not null constraint mail_messages_subject check (subject !~ '[[:cntrl:]]'),
    body text not null,
    left_out integer not null default 0,    -- attachments that are not passed on
    original_message_id text,               -- that of the sender's own mail
    status text not null default 'waiting' constraint mail_messages_status check (status in ('waiting', 'sent', 'refused')),
    refused_reason text,
    sending_job uuid,                       -- who is sending it, and until when nobody else does
    sending_until timestamptz,
    sent_at timestamptz,
    created_at timestamptz not null default postmill.now()
);
create unique index if not exists mail_messages_original on mail_messages (conversation_id, sender, original_message_id)
    where original_message_id is not null;
create index if not exists mail_messages_latest on mail_messages (conversation_id, created_at);

-- How far a mailbox was read. UIDs are of one UIDVALIDITY; with another one all begins anew.
create table if not exists mailboxes (
    name text primary key,
    uid_validity bigint not null,
    last_uid bigint not null default 0,
    trying_uid bigint,                      -- the message at hand, and how often it was begun
    tries integer not null default 0
);
alter table mailboxes add column if not exists trying_job uuid;     -- the job that has begun it last

create table if not exists inbound_mail (
    id uuid primary key default gen_random_uuid(),
    mailbox text not null,
    uid_validity bigint not null,
    uid bigint not null,
    digest bytea not null unique,           -- SHA-256 of what was read of it: it may come again under another UID
    disposition text not null constraint inbound_mail_disposition check (disposition in (
        'relayed', 'repeated', 'unknown_address', 'stranger', 'bounce', 'automatic', 'flood', 'too_large', 'unreadable')),
    message_id uuid references mail_messages on delete set null,
    size bigint not null,
    raw bytea,                              -- of what was kept apart, for people to look at, for 30 days
    received_at timestamptz not null default postmill.now(),
    unique (mailbox, uid_validity, uid)
);
create index if not exists inbound_mail_apart on inbound_mail (received_at) where raw is not null;
