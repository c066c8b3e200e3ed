"""The operations by what they are about, for code that awaits. What each does is written in `calls`."""

from __future__ import annotations

from postmill.http.awaiting import AsyncGroup, awaiting, following, saving
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


class AsyncJobs(AsyncGroup):
    """Jobs: enqueue, look, act."""

    enqueue = awaiting(jobs.enqueue_job)
    list = awaiting(jobs.list_jobs)
    each = following(jobs.list_jobs)
    get = awaiting(jobs.get_job)
    attempts = awaiting(jobs.list_attempts)
    summary = awaiting(jobs.summarize_jobs)
    why = awaiting(jobs.explain_job)
    envelope = awaiting(jobs.get_job_envelope)
    idempotency_keys = awaiting(jobs.list_idempotency_keys)
    each_idempotency_key = following(jobs.list_idempotency_keys)
    cancel = awaiting(job_acts.cancel_job)
    retry = awaiting(job_acts.retry_job)
    prioritize = awaiting(job_acts.set_priority)
    prioritize_all = awaiting(job_acts.set_priorities)
    tag = awaiting(job_acts.set_tags)


class AsyncWorkflows(AsyncGroup):
    """Jobs that wait for one another, and jobs that are watched together."""

    start = awaiting(workflows.start_workflow)
    start_batch = awaiting(workflows.start_batch)
    add = awaiting(workflows.add_to_batch)
    seal = awaiting(workflows.seal_batch)
    list = awaiting(workflows.list_workflows)
    each = following(workflows.list_workflows)
    get = awaiting(workflows.get_workflow)
    cancel = awaiting(workflows.cancel_workflow)
    retry = awaiting(workflows.retry_workflow)
    release = awaiting(workflows.release_steps)


class AsyncDeadLetters(AsyncGroup):
    """Jobs given up on, waiting for an operator."""

    list = awaiting(dead_letters.list_dead_letters)
    each = following(dead_letters.list_dead_letters)
    get = awaiting(dead_letters.get_dead_letter)
    replay = awaiting(dead_letters.replay_dead_letter)
    discard = awaiting(dead_letters.discard_dead_letter)
    statistics = awaiting(dead_letters.get_dead_statistics)
    recovery_rules = awaiting(dead_letters.list_recovery_rules)


class AsyncOperations(AsyncGroup):
    """Bulk acts on dead letters."""

    preview = awaiting(operations.preview_operation)
    impact = awaiting(operations.ask_impact)
    start = awaiting(operations.start_operation)
    list = awaiting(operations.list_operations)
    each = following(operations.list_operations)
    get = awaiting(operations.get_operation)
    letters = awaiting(operations.list_operation_letters)
    each_letter = following(operations.list_operation_letters)
    pause = awaiting(operations.pause_operation)
    resume = awaiting(operations.resume_operation)
    approve = awaiting(operations.approve_operation)
    abort = awaiting(operations.abort_operation)


class AsyncErrors(AsyncGroup):
    """Causes of failures."""

    list = awaiting(errors.list_error_groups)
    each = following(errors.list_error_groups)
    get = awaiting(errors.get_error_group)
    ignore = awaiting(errors.ignore_error_group)
    resolve = awaiting(errors.resolve_error_group)
    reopen = awaiting(errors.reopen_error_group)
    notes = awaiting(errors.list_error_notes)
    note = awaiting(errors.write_error_note)
    export_tenants = awaiting(errors.export_error_tenants)


class AsyncDefinitions(AsyncGroup):
    """Job definitions."""

    list = awaiting(definitions.list_definitions)
    each = following(definitions.list_definitions)
    create = awaiting(definitions.create_definition)
    get = awaiting(definitions.get_definition)
    edit = awaiting(definitions.edit_definition)
    versions = awaiting(definitions.list_definition_versions)
    each_version = following(definitions.list_definition_versions)
    paused = awaiting(definitions.list_paused_types)
    pause = awaiting(definitions.pause_type)
    resume = awaiting(definitions.resume_type)


class AsyncTriggers(AsyncGroup):
    """Rules that make jobs."""

    list = awaiting(triggers.list_triggers)
    each = following(triggers.list_triggers)
    create = awaiting(triggers.create_trigger)
    preview = awaiting(triggers.preview_trigger)
    get = awaiting(triggers.get_trigger)
    change = awaiting(triggers.change_trigger)
    remove = awaiting(triggers.remove_trigger)
    run = awaiting(triggers.run_trigger)
    next_runs = awaiting(triggers.list_next_runs)
    plan_backfill = awaiting(triggers.plan_backfill)
    backfill = awaiting(triggers.backfill_trigger)
    ticks = awaiting(triggers.list_trigger_ticks)
    each_tick = following(triggers.list_trigger_ticks)
    deliveries = awaiting(triggers.list_trigger_deliveries)
    each_delivery = following(triggers.list_trigger_deliveries)


class AsyncEvents(AsyncGroup):
    """Facts that an application published."""

    publish = awaiting(events.publish_event)
    list = awaiting(events.list_events)
    each = following(events.list_events)
    get = awaiting(events.get_event)
    deliveries = awaiting(events.list_event_deliveries)


class AsyncWebhooks(AsyncGroup):
    """Where others send events to."""

    list = awaiting(webhooks.list_webhooks)
    each = following(webhooks.list_webhooks)
    create = awaiting(webhooks.create_webhook)
    get = awaiting(webhooks.get_webhook)
    change = awaiting(webhooks.change_webhook)
    rotate = awaiting(webhooks.rotate_webhook)
    remove = awaiting(webhooks.remove_webhook)


class AsyncIncidents(AsyncGroup):
    """What is, or was, wrong."""

    list = awaiting(incidents.list_incidents)
    each = following(incidents.list_incidents)
    get = awaiting(incidents.get_incident)
    acknowledge = awaiting(incidents.acknowledge_incident)
    resolve = awaiting(incidents.resolve_incident)


class AsyncQueues(AsyncGroup):
    """Named families of work."""

    list = awaiting(queues.list_queues)
    get = awaiting(queues.get_queue)
    pause = awaiting(queues.pause_queue)
    resume = awaiting(queues.resume_queue)
    scaling = awaiting(queues.get_scaling)
    all_scaling = awaiting(queues.list_scaling)


class AsyncLimits(AsyncGroup):
    """How many jobs run at once over the whole fleet, and how often they start."""

    list = awaiting(limits.list_limits)
    each = following(limits.list_limits)
    get = awaiting(limits.get_limit)
    set = awaiting(limits.set_limit)
    clear = awaiting(limits.clear_limit)


class AsyncBudgets(AsyncGroup):
    """Caps on spend per period."""

    list = awaiting(budgets.list_budgets)
    each = following(budgets.list_budgets)
    get = awaiting(budgets.get_budget)
    put = awaiting(budgets.put_budget)
    change = awaiting(budgets.change_budget)
    history = awaiting(budgets.list_budget_periods)
    breakdown = awaiting(budgets.break_down_budget)
    lines = awaiting(budgets.list_budget_lines)
    each_line = following(budgets.list_budget_lines)
    correct = awaiting(budgets.correct_budget)
    limit_period = awaiting(budgets.limit_budget_period)
    requests = awaiting(budgets.list_budget_requests)
    each_request = following(budgets.list_budget_requests)
    request = awaiting(budgets.request_budget)
    grant = awaiting(budgets.grant_budget_request)
    decline = awaiting(budgets.decline_budget_request)


class AsyncWorkers(AsyncGroup):
    """Worker sessions."""

    list = awaiting(queues.list_workers)
    get = awaiting(queues.get_worker)
    jobs = awaiting(queues.list_worker_jobs)
    drain = awaiting(queues.drain_worker)
    resume = awaiting(queues.resume_worker)
    stop = awaiting(queues.stop_worker)
    rescue = awaiting(queues.rescue_worker)
    top = awaiting(queues.show_top)
    each = following(queues.list_workers)


class AsyncWork(AsyncGroup):
    """The calls of a worker over HTTP."""

    claim = awaiting(work.claim_jobs)
    heartbeat = awaiting(work.renew_lease)
    complete = awaiting(work.complete_job)
    workflow = awaiting(work.read_job_workflow)
    fail = awaiting(work.fail_job)
    reserve = awaiting(work_budgets.reserve_budget)
    start = awaiting(work_budgets.start_reservation)
    settle = awaiting(work_budgets.settle_reservation)
    release = awaiting(work_budgets.release_reservation)
    put_artifact = awaiting(artifacts.put_artifact)
    read_artifact = awaiting(artifacts.read_artifact_for_job)
    save_artifact = saving(artifacts.read_artifact_for_job)


class AsyncArtifacts(AsyncGroup):
    """Files that jobs read or made."""

    list = awaiting(artifacts.list_artifacts)
    each = following(artifacts.list_artifacts)
    get = awaiting(artifacts.get_artifact)
    read = awaiting(artifacts.get_artifact_content)
    save = saving(artifacts.get_artifact_content)
    delete = awaiting(artifacts.delete_artifact)


class AsyncTenants(AsyncGroup):
    """Tenants and their projects."""

    list = awaiting(access.list_tenants)
    each = following(access.list_tenants)
    create = awaiting(access.create_tenant)
    get = awaiting(access.get_tenant)
    change = awaiting(access.change_tenant)
    projects = awaiting(access.list_projects)
    each_project = following(access.list_projects)
    create_project = awaiting(access.create_project)


class AsyncCells(AsyncGroup):
    """Databases that share the tenants, and moves between them."""

    list = awaiting(cells.list_cells)
    tenants = awaiting(cells.list_places)
    each_tenant = following(cells.list_places)
    where = awaiting(cells.get_place)
    preview = awaiting(cells.preview_move)
    move = awaiting(cells.move_tenant)
    moves = awaiting(cells.list_moves)
    each_move = following(cells.list_moves)
    show = awaiting(cells.get_move)
    resume = awaiting(cells.resume_move)
    abort = awaiting(cells.abort_move)


class AsyncKeys(AsyncGroup):
    """API keys, and logins of the console."""

    list = awaiting(access.list_keys)
    each = following(access.list_keys)
    create = awaiting(access.create_key)
    revoke = awaiting(access.revoke_key)
    logins = awaiting(access.list_logins)
    each_login = following(access.list_logins)
    end_login = awaiting(access.end_login)


class AsyncAudit(AsyncGroup):
    """What happened."""

    history = awaiting(audit.list_history)
    each = following(audit.list_history)
    log = awaiting(audit.list_audit_log)
    each_logged = following(audit.list_audit_log)


class AsyncHealth(AsyncGroup):
    """The server itself."""

    alive = awaiting(health.get_health)
    ready = awaiting(health.get_readiness)
    metrics = awaiting(health.get_metrics)
    doctor = awaiting(health.examine_platform)


class AsyncRetention(AsyncGroup):
    """How long what is kept."""

    list = awaiting(retention.list_retention)
    set = awaiting(retention.set_retention)
    unset = awaiting(retention.unset_retention)


class AsyncArchive(AsyncGroup):
    """The cold archive."""

    list = awaiting(retention.list_archive)
    each = following(retention.list_archive)
    job = awaiting(retention.get_archived_job)
    state = awaiting(retention.get_archive_state)
    switch = awaiting(retention.switch_archive)
