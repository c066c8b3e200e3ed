"""Flask: a client for each application, handlers within the application's context, and `flask postmill`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from flask import Flask

from postmill import Client
from postmill.contrib.flask import Postmill
from postmill.contrib.flask.extension import registry_of
from postmill.testing import assert_enqueued, drain
from tests.contrib.jobs import name_app, name_app_in_a_thread, send_receipt
from tests.support.databases import Database
from tests.support.eventually import eventually
from tests.support.spawner import ROOT

SHOP = """
from flask import Flask
from postmill.contrib.flask import Postmill

def create_app():
    app = Flask("shop")
    app.config["POSTMILL_DATABASE_URL"] = {dsn!r}
    app.config["POSTMILL_MODULES"] = ["tests.contrib.jobs"]
    Postmill(app)
    return app
"""


def test_a_client_and_the_context_of_the_application(database: Database) -> None:
    postmill = Postmill()
    app, other = Flask("shop"), Flask("other")
    app.config["POSTMILL_DATABASE_URL"] = database.dsn
    postmill.init_app(app)

    @app.post("/orders/<int:order>")
    def order(order: int) -> str:
        return str(postmill.client.enqueue(send_receipt.new(order=order)).id)

    assert app.test_client().post("/orders/1").status_code == 200
    assert "postmill" in app.cli.commands
    with other.app_context(), pytest.raises(RuntimeError, match="init_app"):
        postmill.client  # noqa: B018
    with database.connect() as conn, app.app_context():
        assert_enqueued(conn, send_receipt, {"order": 1})
        ids = [postmill.client.enqueue(job.new()).id for job in (name_app, name_app_in_a_thread)]
        client = postmill.client
        assert client is postmill.client
    assert drain(database.dsn, registry_of(app, ["tests.contrib.jobs"])).errors == ()
    assert [client.get(id).result for id in ids] == ["shop", "shop"]
    client.close()


@pytest.mark.long
def test_its_command_line(database: Database, tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(SHOP.format(dsn=database.dsn))
    (tmp_path / "log").touch()
    command = [sys.executable, "-m", "flask", "--app", "shop", "postmill", "worker", "--queues", "mail=1"]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    with Client(database.dsn) as client, open(tmp_path / "log", "w+") as log:
        id = client.enqueue(name_app.new()).id
        worker = subprocess.Popen(command, cwd=tmp_path, env=env, stdout=log, stderr=log)
        try:
            eventually(lambda: worker.poll() is not None or client.get(id).finished, 60, "the job's end")
        finally:
            worker.send_signal(signal.SIGTERM)
            code = worker.wait(30)
        assert code == 0, (tmp_path / "log").read_text()
        assert client.get(id).result == "shop"
