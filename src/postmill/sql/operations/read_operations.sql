select o.id, o.tenant_id, o.kind, o.status, o.stage, o.filter::text, o.rate, o.canary, o.again, o.confirm, o.despite_success,
       o.version, o.reason, o.total, o.done, o.skipped, o.failed, o.actor_type, o.actor_id, o.created_at, o.started_at,
       o.paused_at, o.paused_by, o.pause_reason, o.ended_at, o.fair, o.same_version, o.priority, o.queue, o.run_at, o.stop_ratio,
       o.start_at, o.approve_above, o.approved_by, o.approved_at, o.cut_off, o.tags::text, o.original_version
  from {schema}.read_operations($1::uuid, $2::uuid, $3::integer, $4::boolean) o
