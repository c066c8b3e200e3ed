select o.status, o.done, o.skipped, o.failed, o.passed from {schema}.step_operation($1::uuid, $2::integer[], $3::text::jsonb) o
