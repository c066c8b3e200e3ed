-- What AI tagging knows of an item that has no tags yet. ai_not_before: another run has it, or it has failed and is for the next
-- hour. ai_failures: answers that were of no use; after five it is asked about no more, until somebody sets them to 0.
alter table feed_items add column if not exists ai_not_before timestamptz;
alter table feed_items add column if not exists ai_failures integer not null default 0;
alter table feed_items add column if not exists ai_error text;   -- the last one, with what was answered

-- How long a run waits between two batches: the service has said that it is asked too often.
create table if not exists ai_tagging_pace (
    provider text primary key,
    batch_delay double precision not null check (batch_delay between 0 and 60),
    updated_at timestamptz not null default postmill.now()
);
