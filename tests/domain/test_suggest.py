from postmill.domain.suggest import SHOWN, did_you_mean, suggest


def test_the_nearest_name_is_suggested_whatever_the_case_and_the_dashes() -> None:
    known = ["send_email", "resize_image", "RSS_FEED_REFRESH"]
    assert suggest("send_emial", known) == "send_email"
    assert suggest("rss-feed-refresh", known) == "RSS_FEED_REFRESH"
    assert suggest("zzz", known) is None
    assert suggest("x", []) is None


def test_a_message_says_what_was_meant_and_what_exists() -> None:
    assert (
        did_you_mean("hihg", ["low", "high"], noun="queues")
        == "; did you mean 'high'? known queues: high, low"
    )
    assert did_you_mean("zzz", ["low"], noun="queues") == "; known queues: low"
    assert did_you_mean("zzz", [], noun="queues") == ""


def test_long_lists_are_cut() -> None:
    text = did_you_mean("zzz", [f"type{n:02}" for n in range(SHOWN + 5)], noun="types")
    assert text.endswith("type11 and 5 more")
