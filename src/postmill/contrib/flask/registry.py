"""The application's job types, as `flask postmill worker` serves them: the application is found as `flask` finds it."""

from __future__ import annotations

import os

from flask.cli import ScriptInfo

from postmill.contrib.flask.extension import registry_of

app = ScriptInfo(app_import_path=os.environ.get("FLASK_APP")).load_app()
registry = registry_of(app, app.config["POSTMILL_MODULES"])
