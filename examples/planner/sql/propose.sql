-- A further attempt proposes the same once.
insert into planner.proposal (org_id, project_id, mission_id, collaborator_id, rank, score, reasons, job_id, artifact_id)
values (%(org)s, %(project)s, %(mission_id)s, %(collaborator_id)s, %(rank)s, %(score)s, %(reasons)s, %(job_id)s, %(artifact_id)s)
on conflict (job_id, mission_id, rank) do nothing
