update planner.delivery
   set sent_at = postmill.now(), result_ref = %(reference)s, expires_at = postmill.now() + interval '7 days'
 where org_id = %(org)s and recipient = %(recipient)s and template = %(template)s and payload_hash = %(payload_hash)s
   and schedule_bucket = %(bucket)s
