-- The application's own tables, beside Postmill's schema in the same database, so that an entry and its job can be written in
-- one transaction. Applying this file again changes nothing. The extension vector is pgvector; making it needs a superuser once.

create extension if not exists vector;

-- What is embedded of an entry. array_to_string is not immutable for every type; for text it is.
create or replace function yellow_book_text(name text, description text, categories text[], city text) returns text
language sql immutable parallel safe
return concat_ws(E'\n', name, nullif(description, ''), nullif(array_to_string(categories, ', '), ''), city);

create or replace function yellow_book_hash(value text) returns text
language sql immutable strict parallel safe
return encode(sha256(convert_to(value, 'UTF8')), 'hex');

create table if not exists yellow_book_entry (
    id uuid primary key default gen_random_uuid(),
    name text not null,
    description text,
    categories text[] not null default '{}',
    city text not null,
    phone text,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),      -- any change moves it
    text text generated always as (yellow_book_text(name, description, categories, city)) stored,
    keywords tsvector generated always as (
        to_tsvector('english', yellow_book_text(name, description, categories, city))) stored,
    wanted_hash text,                                   -- of the text whose embedding was last asked for
    job_id uuid,                                        -- the job that was asked to make it
    embedding vector(768),
    embedded_hash text,                                 -- of the text that the embedding is of
    embedded_at timestamptz,                            -- only a job moves it
    check ((embedding is null) = (embedded_hash is null) and (embedding is null) = (embedded_at is null))
);
create index if not exists yellow_book_entry_embedding on yellow_book_entry using hnsw (embedding vector_cosine_ops);
create index if not exists yellow_book_entry_keywords on yellow_book_entry using gin (keywords);

-- The dead letter queue in the words of its design. id is the dead letter's, which is its job's: a job has at most one.
create or replace view dlq_entry as
select d.id, d.id as job_id, j.job_type,
       j.payload || jsonb_build_object('attempt', d.attempts) as payload,
       jsonb_strip_nulls(jsonb_build_object('message', coalesce(d.error_message, d.reason), 'code', d.error_code,
                                            'status', d.error_status, 'stack', d.stack)) as error,
       d.failed_at, d.attempts, coalesce(d.last_attempt_at, d.failed_at) as last_attempt_at, d.reason
  from postmill.dead_letter d
  join postmill.any_job j on j.id = d.id
 where j.job_type = 'generate-embedding';
