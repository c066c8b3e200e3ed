insert into feed_items (source_id, item_guid, title, url, description, content, author, published_at, content_hash,
                        ai_tagged)
select %(source_id)s, i.item_guid, i.title, i.url, i.description, i.content, i.author, i.published_at, i.content_hash, false
  from jsonb_to_recordset(%(items)s) as i(item_guid text, title text, url text, description text, content text, author text,
                                          published_at timestamptz, content_hash text)
on conflict (source_id, item_guid) do nothing
returning id
