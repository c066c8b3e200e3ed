-- A person does not want the item. Its job, if one waits or runs, will find that out by itself.
update items set status = 'DISCARDED' where id = %(id)s and status <> 'DISCARDED' returning id;
