"""`postmill stats` and `postmill errors`."""

import pytest

from tests.cli.support import cli

ROWS = """
insert into postmill.queue (name) values ('mail'), ('bulk');
insert into postmill.rollup_part (minute, tenant_id, queue, job_type, outcome, n, wait_sum, run_sum, total_sum, wait_hist,
    run_hist, total_hist)
select postmill.minute_of(postmill.now() - g * interval '5 minutes'), '00000000-0000-0000-0000-000000000001', q, q || '_job',
       o, g + 1, 0, 0, g + 1, null, null, case when o = 'succeeded' then postmill.histogram(0.9) end
  from generate_series(0, 5) g, unnest(array['mail', 'bulk']) q, unnest(array['enqueued', 'succeeded', 'dead_letter']) o;
insert into postmill.error_group_part (id, tenant_id, job_type, error_class, message, frame, error_status, first_at, last_at, n,
    job_id)
select postmill.error_group_id('mail_job', 'Bounced', 'no mailbox * at ' || chr(97 + g), 'shop.mail:send'),
       '00000000-0000-0000-0000-000000000001', 'mail_job', 'Bounced', 'no mailbox * at ' || chr(97 + g), 'shop.mail:send', 550,
       postmill.now() - interval '2 hours', postmill.now() - g * interval '1 minute', 10 + g, postmill.new_id()
  from generate_series(0, 3) g;
select postmill.fold_rollups(100); select postmill.fold_error_groups(100, 3);
"""


@pytest.fixture
def seen(pg):
    pg.execute(ROWS)


def test_what_happened_and_why(dsn, seen):
    shown = cli("stats", dsn=dsn).out
    assert "mail" in shown
    assert "50.0%" in shown, "as many dead as succeeded"
    assert any(bar in shown for bar in "▁▂▃▄▅▆▇█")
    document = cli("stats", "--by", "type", "--queue", "MAIL", "--since", "45m", "--json", dsn=dsn).json
    (line,) = document["lines"]
    assert (line["name"], line["counts"]) == (
        "mail_job",
        {"enqueued": 21, "succeeded": 21, "dead_letter": 21},
    )
    assert 0.5 < line["total"]["p95"] <= 1.0
    assert sum(part["counts"]["succeeded"] for part in document["buckets"]) == 21
    assert cli("stats", "--queue", "mial", dsn=dsn).code == 5
    assert "by the minute" in cli("stats", "--since", "10s", dsn=dsn).err
    assert "nothing happened" in cli("stats", "--type", "none_such", dsn=dsn).out

    # Three groups of the type have a place; the fourth is among the others.
    listed = cli("errors", "list", "--json", dsn=dsn).json
    assert sorted(group["error_class"] for group in listed) == ["Bounced", "Bounced", "Bounced", "other"]
    assert sum(group["count"] for group in listed) == 46
    out = cli("errors", "list", "--class", "Bounced", "--since", "1h", dsn=dsn).out
    assert "no mailbox *" in out
    one = next(group for group in listed if group["error_class"] == "Bounced")
    page = cli("errors", "show", one["id"], dsn=dsn).out
    assert all(
        text in page
        for text in (
            "Bounced",
            "shop.mail:send",
            "550",
            f"{one['count']} times",
            "2 h ago",
            one["sample_job"],
        )
    )
    assert cli("errors", "show", one["id"], "--json", dsn=dsn).json["tenants"][0]["count"] == one["count"]
    assert cli("errors", "show", "0" * 16, dsn=dsn).code == 5
    assert cli("errors", "show", "nonsense", dsn=dsn).code == 5
    assert cli("errors", "list", "--type", "none_such", dsn=dsn).out == "no such errors\n"
