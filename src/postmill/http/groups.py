"""The operations by what they are about, for code that blocks. What each does is written in `calls`."""

from __future__ import annotations

from postmill.http.blocking import Group, blocking, following, saving
from postmill.http.calls import (
    access,
    artifacts,
    audit,
    budgets,
    cells,
    dead_letters,
    definitions,
    errors,
    events,
    health,
    incidents,
    job_acts,
    jobs,
    limits,
    operations,
    queues,
    retention,
    triggers,
    webhooks,
    work,
    work_budgets,
    workflows,
)


class Jobs(Group):
    """Jobs: enqueue, look, act."""

    enqueue = blocking(jobs.enqueue_job)
    list = blocking(jobs.list_jobs)
    each = following(jobs.list_jobs)
    get = blocking(jobs.get_job)
    attempts = blocking(jobs.list_attempts)
    summary = blocking(jobs.summarize_jobs)
    why = blocking(jobs.explain_job)
    envelope = blocking(jobs.get_job_envelope)
    idempotency_keys = blocking(jobs.list_idempotency_keys)
    each_idempotency_key = following(jobs.list_idempotency_keys)
    cancel = blocking(job_acts.cancel_job)
    retry = blocking(job_acts.retry_job)
    prioritize = blocking(job_acts.set_priority)
    prioritize_all = blocking(job_acts.set_priorities)
    tag = blocking(job_acts.set_tags)


class Workflows(Group):
    """Jobs that wait for one another, and jobs that are watched together."""

    start = blocking(workflows.start_workflow)
    start_batch = blocking(workflows.start_batch)
    add = blocking(workflows.add_to_batch)
    seal = blocking(workflows.seal_batch)
    list = blocking(workflows.list_workflows)
    each = following(workflows.list_workflows)
    get = blocking(workflows.get_workflow)
    cancel = blocking(workflows.cancel_workflow)
    retry = blocking(workflows.retry_workflow)
    release = blocking(workflows.release_steps)


class DeadLetters(Group):
    """Jobs given up on, waiting for an operator."""

    list = blocking(dead_letters.list_dead_letters)
    each = following(dead_letters.list_dead_letters)
    get = blocking(dead_letters.get_dead_letter)
    replay = blocking(dead_letters.replay_dead_letter)
    discard = blocking(dead_letters.discard_dead_letter)
    statistics = blocking(dead_letters.get_dead_statistics)
    recovery_rules = blocking(dead_letters.list_recovery_rules)


class Operations(Group):
    """Bulk acts on dead letters."""

    preview = blocking(operations.preview_operation)
    impact = blocking(operations.ask_impact)
    start = blocking(operations.start_operation)
    list = blocking(operations.list_operations)
    each = following(operations.list_operations)
    get = blocking(operations.get_operation)
    letters = blocking(operations.list_operation_letters)
    each_letter = following(operations.list_operation_letters)
    pause = blocking(operations.pause_operation)
    resume = blocking(operations.resume_operation)
    approve = blocking(operations.approve_operation)
    abort = blocking(operations.abort_operation)


class Errors(Group):
    """Causes of failures."""

    list = blocking(errors.list_error_groups)
    each = following(errors.list_error_groups)
    get = blocking(errors.get_error_group)
    ignore = blocking(errors.ignore_error_group)
    resolve = blocking(errors.resolve_error_group)
    reopen = blocking(errors.reopen_error_group)
    notes = blocking(errors.list_error_notes)
    note = blocking(errors.write_error_note)
    export_tenants = blocking(errors.export_error_tenants)


class Definitions(Group):
    """Job definitions."""

    list = blocking(definitions.list_definitions)
    each = following(definitions.list_definitions)
    create = blocking(definitions.create_definition)
    get = blocking(definitions.get_definition)
    edit = blocking(definitions.edit_definition)
    versions = blocking(definitions.list_definition_versions)
    each_version = following(definitions.list_definition_versions)
    paused = blocking(definitions.list_paused_types)
    pause = blocking(definitions.pause_type)
    resume = blocking(definitions.resume_type)


class Triggers(Group):
    """Rules that make jobs."""

    list = blocking(triggers.list_triggers)
    each = following(triggers.list_triggers)
    create = blocking(triggers.create_trigger)
    preview = blocking(triggers.preview_trigger)
    get = blocking(triggers.get_trigger)
    change = blocking(triggers.change_trigger)
    remove = blocking(triggers.remove_trigger)
    run = blocking(triggers.run_trigger)
    next_runs = blocking(triggers.list_next_runs)
    plan_backfill = blocking(triggers.plan_backfill)
    backfill = blocking(triggers.backfill_trigger)
    ticks = blocking(triggers.list_trigger_ticks)
    each_tick = following(triggers.list_trigger_ticks)
    deliveries = blocking(triggers.list_trigger_deliveries)
    each_delivery = following(triggers.list_trigger_deliveries)


class Events(Group):
    """Facts that an application published."""

    publish = blocking(events.publish_event)
    list = blocking(events.list_events)
    each = following(events.list_events)
    get = blocking(events.get_event)
    deliveries = blocking(events.list_event_deliveries)


class Webhooks(Group):
    """Where others send events to."""

    list = blocking(webhooks.list_webhooks)
    each = following(webhooks.list_webhooks)
    create = blocking(webhooks.create_webhook)
    get = blocking(webhooks.get_webhook)
    change = blocking(webhooks.change_webhook)
    rotate = blocking(webhooks.rotate_webhook)
    remove = blocking(webhooks.remove_webhook)


class Incidents(Group):
    """What is, or was, wrong."""

    list = blocking(incidents.list_incidents)
    each = following(incidents.list_incidents)
    get = blocking(incidents.get_incident)
    acknowledge = blocking(incidents.acknowledge_incident)
    resolve = blocking(incidents.resolve_incident)


class Queues(Group):
    """Named families of work."""

    list = blocking(queues.list_queues)
    get = blocking(queues.get_queue)
    pause = blocking(queues.pause_queue)
    resume = blocking(queues.resume_queue)
    scaling = blocking(queues.get_scaling)
    all_scaling = blocking(queues.list_scaling)


class Limits(Group):
    """How many jobs run at once over the whole fleet, and how often they start."""

    list = blocking(limits.list_limits)
    each = following(limits.list_limits)
    get = blocking(limits.get_limit)
    set = blocking(limits.set_limit)
    clear = blocking(limits.clear_limit)


class Budgets(Group):
    """Caps on spend per period."""

    list = blocking(budgets.list_budgets)
    each = following(budgets.list_budgets)
    get = blocking(budgets.get_budget)
    put = blocking(budgets.put_budget)
    change = blocking(budgets.change_budget)
    history = blocking(budgets.list_budget_periods)
    breakdown = blocking(budgets.break_down_budget)
    lines = blocking(budgets.list_budget_lines)
    each_line = following(budgets.list_budget_lines)
    correct = blocking(budgets.correct_budget)
    limit_period = blocking(budgets.limit_budget_period)
    requests = blocking(budgets.list_budget_requests)
    each_request = following(budgets.list_budget_requests)
    request = blocking(budgets.request_budget)
    grant = blocking(budgets.grant_budget_request)
    decline = blocking(budgets.decline_budget_request)


class Workers(Group):
    """Worker sessions."""

    list = blocking(queues.list_workers)
    get = blocking(queues.get_worker)
    jobs = blocking(queues.list_worker_jobs)
    drain = blocking(queues.drain_worker)
    resume = blocking(queues.resume_worker)
    stop = blocking(queues.stop_worker)
    rescue = blocking(queues.rescue_worker)
    top = blocking(queues.show_top)
    each = following(queues.list_workers)


class Work(Group):
    """The calls of a worker over HTTP."""

    claim = blocking(work.claim_jobs)
    heartbeat = blocking(work.renew_lease)
    complete = blocking(work.complete_job)
    workflow = blocking(work.read_job_workflow)
    fail = blocking(work.fail_job)
    reserve = blocking(work_budgets.reserve_budget)
    start = blocking(work_budgets.start_reservation)
    settle = blocking(work_budgets.settle_reservation)
    release = blocking(work_budgets.release_reservation)
    put_artifact = blocking(artifacts.put_artifact)
    read_artifact = blocking(artifacts.read_artifact_for_job)
    save_artifact = saving(artifacts.read_artifact_for_job)


class Artifacts(Group):
    """Files that jobs read or made."""

    list = blocking(artifacts.list_artifacts)
    each = following(artifacts.list_artifacts)
    get = blocking(artifacts.get_artifact)
    read = blocking(artifacts.get_artifact_content)
    save = saving(artifacts.get_artifact_content)
    delete = blocking(artifacts.delete_artifact)


class Tenants(Group):
    """Tenants and their projects."""

    list = blocking(access.list_tenants)
    each = following(access.list_tenants)
    create = blocking(access.create_tenant)
    get = blocking(access.get_tenant)
    change = blocking(access.change_tenant)
    projects = blocking(access.list_projects)
    each_project = following(access.list_projects)
    create_project = blocking(access.create_project)


class Cells(Group):
    """Databases that share the tenants, and moves between them."""

    list = blocking(cells.list_cells)
    tenants = blocking(cells.list_places)
    each_tenant = following(cells.list_places)
    where = blocking(cells.get_place)
    preview = blocking(cells.preview_move)
    move = blocking(cells.move_tenant)
    moves = blocking(cells.list_moves)
    each_move = following(cells.list_moves)
    show = blocking(cells.get_move)
    resume = blocking(cells.resume_move)
    abort = blocking(cells.abort_move)


class Keys(Group):
    """API keys, and logins of the console."""

    list = blocking(access.list_keys)
    each = following(access.list_keys)
    create = blocking(access.create_key)
    revoke = blocking(access.revoke_key)
    logins = blocking(access.list_logins)
    each_login = following(access.list_logins)
    end_login = blocking(access.end_login)


class Audit(Group):
    """What happened."""

    history = blocking(audit.list_history)
    each = following(audit.list_history)
    log = blocking(audit.list_audit_log)
    each_logged = following(audit.list_audit_log)


class Health(Group):
    """The server itself."""

    alive = blocking(health.get_health)
    ready = blocking(health.get_readiness)
    metrics = blocking(health.get_metrics)
    doctor = blocking(health.examine_platform)


class Retention(Group):
    """How long what is kept."""

    list = blocking(retention.list_retention)
    set = blocking(retention.set_retention)
    unset = blocking(retention.unset_retention)


class Archive(Group):
    """The cold archive."""

    list = blocking(retention.list_archive)
    each = following(retention.list_archive)
    job = blocking(retention.get_archived_job)
    state = blocking(retention.get_archive_state)
    switch = blocking(retention.switch_archive)
