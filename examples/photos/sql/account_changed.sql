update providers p set changed_at = now() where p.account_id = any(%(accounts)s)
returning p.id, p.tenant_id, p.folder
