// Pings: "something of this topic changed". One stream for all tabs of a browser: whoever holds the lock has it and tells
// the others. Plain HTTP has no locks, and a stream that fails twice is left alone for a while: then tabs poll.

const bus = {
  live: false, // do pings come?
  listeners: new Set(), // called with a topic, or with null: anything may have changed
  deliver(topic) { for (const listener of this.listeners) listener(topic); },
};

{
  const source = page.liveStream;
  const able = source && isSecureContext && navigator.locks && globalThis.BroadcastChannel && globalThis.EventSource;
  const HANDS_OVER_AFTER = 15_000; // a hidden tab needs no stream
  let channel, stream, release, wish, leaving = 0, rest = 30_000;

  const state = (live) => {
    const changed = live !== bus.live;
    bus.live = live;
    if (changed) bus.deliver(null);
  };
  const tell = (message) => channel?.postMessage(message);

  const open = () => {
    let failures = 0;
    stream = new EventSource(source);
    stream.onopen = () => { failures = 0; rest = 30_000; };
    stream.onmessage = (event) => {
      let ping;
      try { ping = JSON.parse(event.data); } catch { return; }
      if (!Array.isArray(ping) || typeof ping[0] !== "string") return;
      const [word] = ping;
      if (word === "up" || word === "down") { // the server hears of changes, or does not at present
        state(word === "up");
        bus.deliver(null);
        tell(["live", bus.live]);
      } else if (word === "over") { // the login ended: asking finds out
        stream.close();
        state(false);
        tell(["live", false]);
      } else {
        tell(["ping", word]);
        bus.deliver(word);
      }
    };
    stream.onerror = () => {
      failures += 1;
      if (failures < 2 && stream.readyState !== EventSource.CLOSED) return;
      stream.close();
      state(false);
      tell(["live", false]);
      const again = rest * (0.75 + Math.random() / 2);
      rest = Math.min(rest * 2, 300_000);
      setTimeout(() => { if (release && stream.readyState === EventSource.CLOSED) open(); }, again);
    };
  };

  const lead = () => new Promise((done) => {
    release = () => { release = undefined; stream?.close(); tell(["who"]); done(); };
    open();
  });

  const join = () => {
    clearTimeout(leaving);
    if (!able || wish) return;
    channel = new BroadcastChannel(`console-live ${source}`);
    channel.onmessage = ({ data: [kind, what] }) => {
      if (kind === "ping") bus.deliver(what);
      else if (kind === "live") state(what);
      else if (kind === "who" && release) tell(["live", bus.live]);
    };
    tell(["who"]);
    wish = new AbortController();
    navigator.locks.request(`console-sse ${source}`, { signal: wish.signal }, lead).catch(() => {});
  };

  const leave = () => {
    clearTimeout(leaving);
    wish?.abort();
    release?.();
    channel?.close();
    channel = wish = undefined;
    bus.live = false;
  };

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) leaving = setTimeout(leave, HANDS_OVER_AFTER); else join();
  });
  addEventListener("pagehide", leave);
  addEventListener("pageshow", (event) => { if (event.persisted) join(); });
  if (document.querySelector("[data-live]") && !document.hidden) join();
}
