"""`postmill up` as a real process tree: everything from nothing, kept, restartable."""

import json
import re
import signal
import stat
import urllib.error
import urllib.request

import pytest

from postmill import Client
from tests.cli.processes import running
from tests.cli.support import cli
from tests.support.eventually import eventually
from tests.support.ports import unused_port

READY = r"ready; Ctrl-C drains and stops, the data is kept"


def get(url):
    with urllib.request.urlopen(url, timeout=5) as answer:
        return answer.read().decode()


def test_from_an_empty_folder_and_once_more(shop):
    port = unused_port()
    with running(shop, "up", "jobs.py", "--port", str(port)) as up:
        up.says(READY, 45)
        up.says(
            rf"metrics +http://127.0.0.1:{port}/metrics\n(?s:.*)in another terminal +postmill enqueue greet name=text --wait"
        )
        assert cli("enqueue", "greet", "name=Ada", "--wait", "--timeout", "20s").out == '"Hello Ada"\n'
        page = get(f"http://127.0.0.1:{port}/metrics")
        assert 'jobs_succeeded_total{job_type="greet",queue="default"} 1' in page
        assert json.loads(get(f"http://127.0.0.1:{port}/readyz"))["ready"] is True
        asked = 'postmill_http_requests_total{method="GET",route="/readyz",status="200"}'
        assert asked in get(f"http://127.0.0.1:{port}/metrics")
        with Client() as client:
            assert client.register([]) == {}
        # One port for all: who has the link is in, once, and nobody else.
        link = re.search(r"http://\S+/login\?token=\S+", up.out)[0]
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with browser.open(link, timeout=5) as answer:
            assert "<title>Now · Platform · Postmill</title>" in answer.read().decode()
        with browser.open(f"http://127.0.0.1:{port}/api/v1/jobs", timeout=5) as answer:
            assert [job["status"] for job in json.load(answer)["items"]] == ["succeeded"]
        for path in (link, f"http://127.0.0.1:{port}/api/v1/jobs"):
            with pytest.raises(urllib.error.HTTPError, match="401") as refused:
                get(path)
            refused.value.close()
        assert cli("login").out.startswith(f"http://127.0.0.1:{port}/login?token=")
        up.signal(signal.SIGINT)
        assert up.ends() == 0
        assert re.search(r"drained in [\d.]+ m?s, up for [\d.]+ m?s: 1 succeeded", up.out)
    environment = shop / ".postmill" / "postmill.env"
    assert stat.S_IMODE(environment.stat().st_mode) == 0o600
    assert environment.read_text().startswith("POSTMILL_DATABASE_URL='postgresql://")
    assert cli("jobs", "list").code == 3
    with running(shop, "up", "jobs.py", "--port", str(port), "--json") as up:
        eventually(lambda: up.out.endswith("}\n"), 45)
        facts = json.loads(up.out)
        assert facts["http"] == f"http://127.0.0.1:{port}"
        assert facts["login"].startswith(f"http://127.0.0.1:{port}/login?token=")
        assert facts["job_types"] == ["fail", "greet", "kill_me", "nap", "who"]
        [job] = cli("jobs", "list", "--json").json["jobs"]
        assert (job["job_type"], job["status"]) == ("greet", "succeeded")
        up.signal(signal.SIGTERM)
        assert up.ends() == 0
        assert json.loads(up.out) == facts


def test_data_elsewhere_is_known_here(shop):
    sourced = {
        "POSTMILL_DATABASE_URL": "postgresql://postgres@/postgres?host=/tmp/another",
        "POSTMILL_SERVER__PUBLIC_URL": "http://127.0.0.1:1",
    }
    port = unused_port()
    with running(shop, "up", "--data", "the data", "--port", str(port), env=sourced) as up:
        up.says(READY, 45)
        up.says(rf"http://127.0.0.1:{port}/login\?token=")
        assert "→ unset POSTMILL_DATABASE_URL POSTMILL_SERVER__PUBLIC_URL, or run with --dsn" in up.err
        up.says("none: only stored commands run")
        assert (shop / "the data" / "postmill.env").read_text() == (
            shop / ".postmill" / "postmill.env"
        ).read_text()
        assert cli("queues", "list").code == 0
        with running(shop, "up", "--data", "the data", "--port", "0") as second:
            assert second.ends() == 1
            assert "is in use by process" in second.err
        up.signal(signal.SIGTERM)
        assert up.ends() == 0


def test_on_a_database_that_is_there(shop, empty_database):
    with running(shop, "up", "jobs.py", "--port", "0", "--dsn", empty_database.dsn) as up:
        up.says(READY, 45)
        assert not (shop / ".postmill").exists()
        done = cli("enqueue", "greet", "name=Ada", "--wait", "--timeout", "20s", dsn=empty_database.dsn)
        assert done.code == 0
        up.signal(signal.SIGTERM)
        assert up.ends() == 0
