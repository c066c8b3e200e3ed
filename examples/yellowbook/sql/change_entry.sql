-- Fields that are not named in `given` stay as they are.
update yellow_book_entry
   set name = case when 'name' = any(%(given)s) then %(name)s else name end,
       description = case when 'description' = any(%(given)s) then %(description)s else description end,
       categories = case when 'categories' = any(%(given)s) then %(categories)s else categories end,
       city = case when 'city' = any(%(given)s) then %(city)s else city end,
       phone = case when 'phone' = any(%(given)s) then %(phone)s else phone end,
       updated_at = postmill.now()
 where id = %(id)s
returning id, text, yellow_book_hash(text) as hash, postmill.now() as moment
