-- The messages that led to one, the first one first.
with recursive chain as (
    select id, parent_id, sender, original_message_id, 1 as depth
      from mail_messages where id = %(parent_id)s
    union all
    select m.id, m.parent_id, m.sender, m.original_message_id, c.depth + 1
      from chain c join mail_messages m on m.id = c.parent_id
     where c.depth < 20
)
select id, sender, original_message_id from chain order by depth desc
