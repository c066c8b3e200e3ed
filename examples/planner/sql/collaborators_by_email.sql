select lower(email) as email, id from planner.collaborator where email is not null
