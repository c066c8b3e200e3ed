"""Artifacts over HTTP: up, down, in pages, and what is wrong with them."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from uuid import uuid4

from postmill.domain.access import Role
from tests.artifacts.requests import claimed, put
from tests.artifacts.support import BIG, files
from tests.support.api import Api, problem
from tests.support.http_work import HttpWorker

REPORT = "Bericht „März“ 100%.csv"


async def test_up_and_down(api: Api, one: HttpWorker, folder: Path) -> None:
    held = await claimed(api, one)
    digest = base64.b64encode(hashlib.sha256(BIG).digest()).decode()
    answer = await put(
        one, held, "Bericht%20%E2%80%9EM%C3%A4rz%E2%80%9C%20100%25.csv", BIG,
        headers={"Content-Type": "text/csv; charset=utf-8", "Content-Digest": f"sha-512=:AA==:, sha-256=:{digest}:"},
        params={"expires_in": 3600},
    )  # fmt: skip
    assert answer.status_code == 201, answer.text
    made = answer.json()
    assert (made["name"], made["size"], made["attempt"]) == (REPORT, len(BIG), 1)
    assert made["sha256"] == hashlib.sha256(BIG).hexdigest()
    assert answer.headers["location"] == f"/api/v1/artifacts/{made['id']}"
    operator = await api.client(Role.OPERATOR)
    found = await operator.get(f"/jobs/{held['job_id']}/artifacts")
    assert found.json() == {"items": [made], "next": None}
    assert (await operator.get(f"/artifacts/{made['id']}")).json() == made
    got = await operator.get(f"/artifacts/{made['id']}/content")
    assert got.status_code == 200
    assert got.content == BIG
    told = {name: got.headers[name] for name in ("content-type", "content-length", "etag", "x-content-type-options",
                                                 "content-disposition", "content-digest")}  # fmt: skip
    assert told == {
        "content-type": "text/csv; charset=utf-8",
        "content-length": str(len(BIG)),
        "etag": f'"{made["sha256"]}"',
        "x-content-type-options": "nosniff",
        "content-disposition": 'attachment; filename="Bericht _M_rz_ 100_.csv";'
        " filename*=UTF-8''Bericht%20%E2%80%9EM%C3%A4rz%E2%80%9C%20100%25.csv",
        "content-digest": f"sha-256=:{digest}:",
    }
    for tag in (told["etag"], f'"x", W/{told["etag"]}', "*"):
        again = await operator.get(f"/artifacts/{made['id']}/content", headers={"If-None-Match": tag})
        assert (again.status_code, again.content) == (304, b"")
    for_worker = await one.client.get(
        f"/worker/jobs/{held['job_id']}/artifacts/{made['id']}/content",
        headers={"Postmill-Fence": held["fence"]},
    )
    assert for_worker.content == BIG
    replaced = (
        (await put(one, held, "a.csv", b"first")).json(),
        (await put(one, held, "a.csv", b"second")).json(),
    )
    names = [item["id"] for item in (await operator.get(f"/jobs/{held['job_id']}/artifacts")).json()["items"]]
    assert names == [made["id"], replaced[1]["id"]]
    problem(await operator.get(f"/artifacts/{replaced[0]['id']}"), 404, "not-found")


async def test_pages(api: Api, one: HttpWorker) -> None:
    held = await claimed(api, one)
    for n in range(5):
        assert (await put(one, held, f"{n}", b"")).status_code == 201
    operator = await api.client(Role.OPERATOR)
    seen, cursor = [], None
    while True:
        query = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = (await operator.get(f"/jobs/{held['job_id']}/artifacts", params=query)).json()
        seen += [item["name"] for item in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert seen == ["0", "1", "2", "3", "4"]
    problem(await operator.get(f"/jobs/{uuid4()}/artifacts"), 404, "not-found")
    without = await claimed(api, one)
    assert (await operator.get(f"/jobs/{without['job_id']}/artifacts")).json() == {"items": [], "next": None}


async def test_expired_tampered_and_unreachable(api: Api, one: HttpWorker, folder: Path) -> None:
    held = await claimed(api, one)
    small, big = (await put(one, held, "small", b"x")).json(), (await put(one, held, "big", BIG)).json()
    operator = await api.client(Role.OPERATOR)
    for path in files(folder):
        data = (folder / path).read_bytes()
        (folder / path).write_bytes(data[:-1] + b"!")
    problem(await operator.get(f"/artifacts/{small['id']}/content"), 500, "artifact-damaged")
    async with operator.stream("GET", f"/artifacts/{big['id']}/content") as got:
        came = b"".join([chunk async for chunk in got.aiter_bytes()])
    assert len(came) < len(BIG) == int(got.headers["content-length"])  # on the wire it breaks off
    await api.owner.execute("update postmill.artifact set expires_at = postmill.now()")
    problem(await operator.get(f"/artifacts/{small['id']}"), 410, "artifact-expired")
    problem(await operator.get(f"/artifacts/{small['id']}/content"), 410, "artifact-expired")
    assert (await operator.get(f"/jobs/{held['job_id']}/artifacts")).json()["items"] == []
