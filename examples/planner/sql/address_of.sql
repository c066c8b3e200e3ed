select case %(channel)s when 'email' then email when 'sms' then phone when 'push' then device when 'in-app' then account end as address
  from planner.collaborator where id = %(collaborator)s
