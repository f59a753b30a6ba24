"""JSON-RPC 2.0: each request is answered under its id, errors have the specified codes, and notifications get no answer."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from acpgen.probe.case_context import AUTH_REQUIRED, SkipCase, Trial
from acpgen.probe.connection import write_id
from acpgen.probe.registry import BOTH, case

_OWN_ORDER: Final = (-32602, -32600, AUTH_REQUIRED, -32001, -32002)
"""Codes that malformed params may get: an agent may check other things first."""


@case("json-rpc/unknown-method", "not-found", sides=BOTH)
def unknown_method(trial: Trial) -> None:
    """A request for a method that does not exist. Expected: the error -32601."""
    name = f"acpgen/{_draw_word(trial)}"
    response = trial.expect(name, {})
    if response is not None and "error" not in response.value:
        trial.fail_answer(response, f"the method {name!r} does not exist, and is answered with a result")
    elif response is not None and response.code != -32601:
        trial.fail_answer(response, f"the method {name!r} does not exist; the error is {response.reason}, not -32601")


@case("json-rpc/unknown-notification", "no-reply", sides=BOTH)
def unknown_notification(trial: Trial) -> None:
    """A notification that does not exist, and one whose params are malformed. Expected: no answer, and the next request is answered."""
    known_method = "session/cancel" if trial.connection.probe_side == "client" else "session/update"
    calls: tuple[tuple[str, Any], ...] = (
        (f"acpgen/{_draw_word(trial)}", {}),
        (known_method, {"sessionId": 5}),
        (known_method, []),
    )
    for name, params in calls:
        _notify(trial, name, params)


@case("json-rpc/optional-notification", "no-reply", sides=BOTH)
def optional_notification(trial: Trial) -> None:
    """A notification whose method begins with `$/`, and `$/cancel_request` for a request that never was. Expected: no answer."""
    _notify(trial, f"$/{_draw_word(trial)}", {})
    _notify(trial, "$/cancel_request", {"requestId": f"never-{_draw_word(trial)}"})


@case("json-rpc/ids", "must", sides=BOTH)
def ids(trial: Trial) -> None:
    """Requests with ids that the schema allows: 0, negative and large numbers, the empty and other strings. Expected: the same id."""
    draw = trial.random
    values: list[Any] = [
        0,
        -1,
        2**31,
        -(2**53) + 1,
        2**53 - 1,
        "",
        "0",
        " ",
        "id/with:marks",
        "\u00fc\u6f22\U0001f30a",
        "x" * 300,
    ]
    values += [draw.randrange(-(2**53) + 1, 2**53), f"{draw.getrandbits(64):x}"]
    trial.is_alive()
    for value in values:
        _require_return(trial, value)


@case("json-rpc/id-of-64-bits", "interoperable", sides=BOTH)
def id_of_64_bits(trial: Trial) -> None:
    """Requests with whole numbers that fit 64 bits, but no double. Expected: the same id, digit by digit."""
    for value in (2**53 + 1, 2**63 - 1, -(2**63) + 1):
        near = float(value)  # which other languages write with the digits that tell it from its neighbours
        trial.connection.tolerated |= {
            write_id(round(near)),
            write_id(near),
            write_id(int(Decimal(repr(near)))),
            write_id(None),
        }
        _require_return(trial, value, "64 bits")


@case("json-rpc/ids-outside-the-schema", "robust", sides=BOTH)
def ids_outside(trial: Trial) -> None:
    """Requests whose ids the schema does not have: null, fractions, numbers beyond 64 bits, a boolean, an array. Expected: such a
    request may be refused or passed over, and the program goes on.
    """
    connection = trial.connection
    for value in (None, 1.5, 2**63, 10**30, True, [1], {"a": 1}):
        connection.tolerated |= {write_id(value), write_id(None), write_id(str(value))}
        if isinstance(value, int | float):  # readers round, cut off and wrap
            connection.tolerated |= {
                write_id(float(value)),
                write_id(round(value)),
                write_id(int(value)),
                write_id(-(2**63)),
            }
            connection.tolerated |= {write_id(2**63 - 1), write_id(0), write_id(int(Decimal(repr(float(value)))))}
        index = connection.send({"jsonrpc": "2.0", "id": value, "method": "_acpgen.dev/id", "params": {}})
        if not trial.require_alive(f"a request with the id {value!r}", index):
            return


@case("json-rpc/params-malformed", "invalid-params")
def params_malformed(trial: Trial) -> None:
    """`session/new` with params of wrong types, without required ones, as an array and as text. Expected: an error, best -32602."""
    good = trial.make_new_params()
    bad: list[tuple[str, Any]] = [
        ("`cwd` is a number", {**good, "cwd": 5}),
        ("`cwd` is null", {**good, "cwd": None}),
        ("`mcpServers` is text", {**good, "mcpServers": "none"}),
        ("`mcpServers` holds a number", {**good, "mcpServers": [7]}),
        ("`cwd` is left out", {"mcpServers": []}),
        ("the params are an array", [str(trial.folder)]),
        ("the params are text", "cwd"),
        ("the params are left out", None),
    ]
    for defect, params in bad:
        if not _is_refused(trial, "session/new", params, defect):
            return
    _is_refused(trial, "session/prompt", {"sessionId": 5, "prompt": "hello"}, "`sessionId` is a number")
    _is_refused(
        trial, "session/prompt", {"sessionId": "x", "prompt": [{"type": 5}]}, "a content block has a number for a type"
    )


@case("json-rpc/params-drawn", "answered")
def params_drawn(trial: Trial) -> None:
    """Requests whose params are drawn from the seed: values of all types where others belong. Expected: each is answered."""
    for _ in range(12):
        method = trial.random.choice(("session/new", "session/prompt", "session/set_mode"))
        names = trial.random.sample(("cwd", "sessionId", "prompt", "modeId", "_meta"), 3)
        params = {name: _draw_value(trial, 2) for name in names}
        wrong: tuple[Any, ...] = (5, None, [], {}, True)
        params["cwd" if method == "session/new" else "sessionId"] = trial.random.choice(wrong)
        if trial.expect(method, params) is None:
            return


@case("json-rpc/unknown-session", "unknown-session")
def unknown_session(trial: Trial) -> None:
    """`session/prompt` and `session/cancel` for a session that does not exist. Expected: an answer to the one, none to the other."""
    name = f"no-session-{_draw_word(trial)}"
    trial.connection.tolerated.add(write_id(name))
    _notify(trial, "session/cancel", {"sessionId": name})
    prompt = {"sessionId": name, "prompt": [{"type": "text", "text": "Reply with the single word ok."}]}
    response = trial.expect("session/prompt", prompt, seconds=trial.slow)
    if response is not None and "error" not in response.value:
        trial.fail_answer(response, "a prompt for a session that does not exist is answered with a result")


def _notify(trial: Trial, method: str, params: Any) -> None:
    if not trial.notify(method, params, clause="answered"):
        raise SkipCase("the connection was lost")


def _require_return(trial: Trial, value: Any, place: str = "") -> None:
    connection = trial.connection
    if write_id(value) in connection.answers:
        return  # used before on this connection
    index = len(connection.rows)
    before = {name: len(responses) for name, responses in connection.answers.items()}
    connection.call(*trial.choose_ping(), value)
    count = sum(before.values())
    connection.wait(lambda: sum(map(len, connection.answers.values())) > count, connection.clock.answer)
    if write_id(value) in connection.answers:
        return
    responses_elsewhere = [
        responses[-1] for id_text, responses in connection.answers.items() if len(responses) > before.get(id_text, 0)
    ]
    description, text = f"a request with the id {write_id(value)[:60]}", write_id(value)
    if responses_elsewhere:
        id_ = responses_elsewhere[0].value.get("id")
        text = text if len(str(value)) < 60 else f"{text[:57]}..."
        place = place or ("a negative number" if isinstance(value, int) and value < 0 else text)
        sentence = f"a request with the id {text} is answered under {write_id(id_)}"
        trial.fail(sentence, index, responses_elsewhere[0].index, place=place)
    elif trial.require_alive(description, index, "answered"):
        trial.require_answer(value, index, description, "answered")
    else:
        raise SkipCase("the connection was lost")


def _is_refused(trial: Trial, method: str, params: Any, defect: str) -> bool:
    """Whether a request was answered; a wrong answer is reported."""
    connection = trial.connection
    name = connection.call(method, params)
    index, response = len(connection.rows) - 1, connection.answer(name)
    if response is None:
        is_request = params is None or isinstance(params, dict | list)
        trial.require_answer(name, index, method, may_be_refused=not is_request)
        if connection.is_over:
            raise SkipCase("the connection was lost")
        return False
    place = f"{method}: {defect}"
    if "error" not in response.value:
        trial.fail_answer(response, f"{method!r} is accepted although {defect}", level="note", place=place)
    elif response.code not in _OWN_ORDER:
        sentence = f"{method!r}, in which {defect}, fails with {response.reason} instead of -32602"
        trial.fail_answer(response, sentence, place=f"{method}: another code")
    return True


def _draw_value(trial: Trial, depth: int) -> Any:
    draw = trial.random
    plain: tuple[Any, ...] = (None, True, False, 0, -1, 1.5, "", "text", "\u0000", [], {})
    if depth == 0 or draw.random() < 0.6:
        return draw.choice(plain)
    if draw.random() < 0.5:
        return [_draw_value(trial, depth - 1) for _ in range(draw.randrange(4))]
    return {draw.choice(("a", "type", "text", "")): _draw_value(trial, depth - 1) for _ in range(draw.randrange(4))}


def _draw_word(trial: Trial) -> str:
    return f"{trial.random.getrandbits(40):010x}"
