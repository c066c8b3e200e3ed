import inspect
import pickle
from types import SimpleNamespace

import pytest

from postmill import errors as public
from postmill.domain import errors
from postmill.domain.errors import Fault

SAMPLES = [
    errors.UnknownJobType("send_emial", ["send_email", "resize"]),
    errors.InactiveJobType("send_email"),
    errors.KeyBusy("k"),
    errors.KeyTaken("k", "resize"),
    errors.SerializationConflict("40P01"),
    errors.PayloadRefused("args.a[0]", "holds a NUL character", [Fault("args.b", "is missing")]),
    errors.Undecodable("resize", [Fault("args.width", "is missing")]),
    errors.UnknownQueue("hihg", ["high"]),
    errors.JobDidNotSucceed(SimpleNamespace(id=7, job_type="resize", status="failed", error_message="boom")),
    errors.TimedOut(30),
    errors.NotFound("job 7"),
    errors.SomeRefused([errors.KeyBusy("a"), errors.KeyBusy("b")]),
    errors.EnvelopeIncomplete("scan", "actor_id"),
    errors.TenantMoved("b"),
    errors.TenantMoving(),
    errors.WorkflowRefused("step b comes after c"),
]


@pytest.mark.parametrize("error", SAMPLES, ids=lambda error: type(error).__name__)
def test_errors_pickle_whole(error: errors.PostmillError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)


def test_messages_say_what_was_meant_and_what_to_do() -> None:
    unknown, _, _, taken, _, refused, undecodable, *_ = map(str, SAMPLES)
    assert "did you mean 'send_email'?" in unknown
    assert "known job types: resize, send_email" in unknown
    assert taken == "idempotency key 'k' is taken by a job of type 'resize'"
    assert refused == "args.a[0]: holds a NUL character; args.b: is missing"
    assert undecodable == "payload does not fit 'resize': args.width: is missing"
    assert str(SAMPLES[8]) == "job 7 (resize) ended failed: boom"


def test_every_error_has_one_base_and_refusals_share_another() -> None:
    public = [
        value for value in vars(errors).values() if inspect.isclass(value) and issubclass(value, Exception)
    ]
    assert all(issubclass(error, errors.PostmillError) for error in public)
    refusals = {error.__name__ for error in public if issubclass(error, errors.EnqueueRefused)}
    assert refusals == {
        "EnqueueRefused", "UnknownJobType", "InactiveJobType", "KeyBusy", "KeyTaken", "SerializationConflict",
        "PayloadRefused", "SomeRefused", "EnvelopeIncomplete", "WorkflowRefused", "TenantAway", "TenantMoving", "TenantMoved",
    }  # fmt: skip


def test_every_error_can_be_caught_by_a_public_name() -> None:
    defined = {
        value for value in vars(errors).values() if inspect.isclass(value) and issubclass(value, Exception)
    }
    assert {getattr(public, name) for name in public.__all__} == defined


OWNER = "which this database role may not: start a worker with its module, or let the schema's owner run: "
REGISTER = "postmill jobs register MODULE"


@pytest.mark.parametrize(
    ("known", "may_register", "said"),
    [
        (["send_email", "x"], None, "; did you mean 'send_email'? known job types: send_email, x"),
        (["resize"], None, "; known job types: resize"),
        ([], None, ": no job type is registered yet"),
        (
            [],
            True,
            f": no job type is registered yet; wait for a worker that has it to start, or register it: {REGISTER}",
        ),
        (["resize"], True, f"; known job types: resize; register it: {REGISTER}"),
        (
            ["send_email"],
            True,
            f"; did you mean 'send_email'? known job types: send_email; if it is a new one, register it: {REGISTER}",
        ),
        (["resize"], False, f"; known job types: resize; it must be registered, {OWNER}{REGISTER}"),
    ],
)
def test_an_unknown_job_type_says_what_this_caller_can_do(
    known: list[str], may_register: bool | None, said: str
) -> None:
    assert (
        str(errors.UnknownJobType("send_emial", known, may_register))
        == f"unknown job type 'send_emial'{said}"
    )


def test_timeouts_are_what_python_calls_timeouts() -> None:
    assert issubclass(errors.WaitTimeout, TimeoutError)
    assert issubclass(errors.TimedOut, TimeoutError)
