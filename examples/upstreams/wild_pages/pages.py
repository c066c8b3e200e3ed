"""Documents by path; `{elsewhere}` in them is an address that nobody may reach."""

from __future__ import annotations

from collections.abc import Mapping


def page(script: str = "", body: str = "<h1>A page</h1>", head: str = "") -> str:
    """A document with a script after its body."""
    return f"<!doctype html><html><head><title>A page</title>{head}</head><body>{body}<script>{script}</script></body></html>"


_PRIVATE = """
    const said = [], to = "{elsewhere}", note = (what) => said.push(what);
    const ask = (what, doing) => { try { doing(); } catch (error) { note(what + " " + error.name); } };
    for (const [tag, at] of Object.entries({img: "src", script: "src", iframe: "src", embed: "src", video: "src"})) {
        const element = document.createElement(tag);
        element[at] = `http://${to}/${tag}`;
        document.body.append(element);
    }
    for (const scheme of ["http", "https"]) {
        ask("fetch", () => fetch(`${scheme}://${to}/fetch`, {mode: "no-cors"}).then(() => note("in"), () => 0));
        ask("beacon", () => navigator.sendBeacon(`${scheme}://${to}/beacon`, "x"));
        ask("redirect", () => fetch(`/to?url=${scheme}://${to}/redirect`, {mode: "no-cors"}).then(() => note("in"), () => 0));
    }
    for (const scheme of ["ws", "wss"]) ask("socket", () => {
        new WebSocket(`${scheme}://${to}/socket`).onopen = () => note("in"); });
    ask("events", () => { new EventSource(`http://${to}/events`).onopen = () => note("in"); });
    ask("worker", () => new Worker("/worker.js"));
    ask("service", () => navigator.serviceWorker.register("/worker.js").catch(() => 0));
    ask("rtc", () => {
        const peer = new RTCPeerConnection({iceServers: [{urls: `stun:${to}`}, {urls: `turn:${to}?transport=tcp`, username: "u",
                                                          credential: "c"}]});
        peer.createDataChannel("x");
        peer.createOffer().then((offer) => peer.setLocalDescription(offer));
    });
    ask("transport", () => new WebTransport(`https://${to}/transport`).ready.then(() => note("in"), () => 0));
    for (const rel of ["preconnect", "dns-prefetch", "prefetch", "preload", "stylesheet", "icon", "manifest"])
        ask(rel, () => { const link = document.createElement("link");
            Object.assign(link, {rel, href: `http://${to}/${rel}`, as: "fetch"}); document.head.append(link); });
    setTimeout(() => { document.title = said.includes("in") ? "in" : "nothing"; }, 400);
"""

PAGES: Mapping[str, str] = {
    "/good": page(body="<h1 style='color:#c00'>Good</h1>", head="<meta charset=utf-8>"),
    "/late": page("setTimeout(() => { document.title = 'late\\ud800' }, 300)"),
    "/tall": page(body="<div style='height:3000000px;background:linear-gradient(red,blue)'></div>"),
    "/lies": page("Object.defineProperty(document.documentElement, 'scrollHeight', {get: () => NaN})"),
    "/infinite-scroll": page(
        "const more = () => { const it = document.createElement('p'); it.style.height = '5000px'; document.body.append(it); };"
        "more(); addEventListener('scroll', more); new ResizeObserver(more).observe(document.body);"
    ),
    "/pop-ups": page("for (let n = 0; n < 200; n++) window.open('/good?' + n); addEventListener('load', () => open('/good'))"),
    "/dialogs": page("alert(1); confirm(2); prompt(3); print(); onbeforeunload = () => 'stay'; document.title = 'told'"),
    "/alert-loop": page("for (;;) alert('again')"),
    "/busy": page("for (;;);"),
    "/crash": page("const kept = []; for (;;) kept.push(new Array(1e7).fill(kept.length + 0.5))"),
    "/close": page("window.close(); open('', '_self').close(); document.title = 'still here'"),
    "/refresh-loop": page(head="<meta http-equiv=refresh content='0'>"),
    "/away": page("location = 'http://{elsewhere}/away'"),
    "/file": page("location = 'file:///etc/passwd'; document.title = 'still here'"),
    "/internals": page("location = 'chrome://settings'; open('chrome://crash'); document.title = 'still here'"),
    "/frames": page(body="".join(f"<iframe src='http://site{n}.example:{{port}}/good'></iframe>" for n in range(20))),
    "/many": page(body="".join(f"<img src='/bytes/200000?{n}'>" for n in range(100))),
    "/private": page(_PRIVATE),
}  # fmt: skip

WORKER = """
    const to = "{elsewhere}";
    self.addEventListener?.("install", () => fetch(`http://${to}/service`, {mode: "no-cors"}).catch(() => 0));
    fetch(`http://${to}/worker`, {mode: "no-cors"}).catch(() => 0);
    try { importScripts(`http://${to}/imported.js`); } catch (error) {}
"""
