-- $4: another payload for the new jobs, as JSON text; NULL keeps the old one. $5: also those that were replayed already.
-- $6: also those whose definition wants to be asked. $7: also those of which a later twin has succeeded. $8: not before the
-- definition is at this version. $9: under the version that each was made under.
select r.id, r.status, r.new_id
  from {schema}.replay_jobs($1::uuid[], $2::text, $3::text, $4::text::jsonb, $5::boolean, $6::boolean, $7::boolean,
                            $8::integer, p_original => $9::boolean) r
