-- postmill: safe
-- Artifacts: files that jobs read or made.

select {schema}.secure_requests();
