"""A key on the command line is refused, whatever it is disguised as;
one that a server repeats is not kept."""

from __future__ import annotations

import pytest

from situs.clients import make_client, parse_spec
from situs.clients.protocol import Reply, ToolCall
from situs.clients.secrets import refuse_secrets, without_secret
from situs.errors import SitusError

# Made up, in the shapes of well-known services.
KEYS = [
    "sk-proj-Zx81kQm20Lw93Vb7Ty5",
    "sk-ant-api03-Zx81kQm20Lw93Vb7",
    "hf_ZxQmLwVbTyUiOpAsDfGhJk",
    "AIzaSyZx81kQm20Lw93Vb7Ty5Rr44Ee22Ww11Qq",
    "ghp_Zx81kQm20Lw93Vb7Ty5Rr44Ee22Ww",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "Zx81kQm20Lw93Vb7Ty5Rr44Ee22Ww11",
]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(
    "spec",
    [
        "openai:m@http://localhost:8000/v1?user={key}",
        "openai:m@http://localhost:8000/v1?body.user={key}",
        "openai:m@http://localhost:8000/{key}/v1",
        'openai:m@http://localhost:8000/v1?provider={{"x":"{key}"}}',
        "openai:m@http://localhost:8000/v1?stop={key}",
        "openai:m?key_env={key}",
        "plugin:mine:Model?folder={key}",
    ],
)
def test_a_key_in_a_spec_is_refused_and_not_repeated(spec: str, key: str) -> None:
    with pytest.raises(SitusError, match="looks like a key") as error:
        parse_spec(spec.format(key=key))
    assert key not in str(error.value)


@pytest.mark.parametrize("key", KEYS[:-1])
def test_a_key_as_the_models_name_is_refused(key: str) -> None:
    with pytest.raises(SitusError, match="looks like a key"):
        parse_spec(f"openai:{key}@http://localhost:8000/v1")


@pytest.mark.parametrize(
    "setting", ["api_key", "key", "token", "headers", "extra_headers", "x-api-key", "auth_token"]
)
def test_settings_that_are_called_like_keys_are_refused(setting: str) -> None:
    with pytest.raises(SitusError, match="looks like a key"):
        parse_spec(f"openai:m?{setting}=1")


def test_the_value_of_a_key_in_the_environment_is_refused_anywhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CLINIC_API_KEY", "correct horse")
    for spec in (
        "openai:correct horse",
        "openai:m@http://localhost/correct horse",
        "openai:m?stop=a correct horse",
    ):
        with pytest.raises(SitusError, match="looks like a key"):
            parse_spec(spec)


@pytest.mark.parametrize(
    "spec",
    [
        "openai:qwen3-vl@http://localhost:8000/v1?max_tokens=64&key_env=CLINIC_API_KEY",
        "openai:accounts/fireworks/models/llama-v3p2-90b-vision-instruct@https://api.example.org/inference/v1",
        "openai:gpt-5.1-2025-11-13?reasoning_effort=low&max_completion_tokens=2048",
        "openai:anthropic.claude-sonnet-4-20250514-v1:0?top_k=5",
        "hf:models--Qwen--Qwen3-VL-8B-Instruct/snapshots/0c351dd01ed87e9c1b53cbc748cba10e6187ff3b",
        "replay:runs/2026-11-16_radiology_department_answers.jsonl",
        "plugin:my_package.models.abdomen_reader_version_12:Model?folder=/data/checkpoints/epoch_0042_loss_0.1234",
    ],
)
def test_ordinary_specs_pass(spec: str) -> None:
    assert parse_spec(spec).kind == spec.partition(":")[0]


def test_an_unknown_setting_is_answered_with_a_near_one() -> None:
    with pytest.raises(SitusError, match="did you mean reasoning_effort"):
        make_client(parse_spec("openai:m?reasoning_efort=low"))
    settings = make_client(parse_spec("openai:m?body.my_field=3")).settings
    assert settings is not None
    assert settings.extra == {"my_field": 3}


def test_a_server_that_repeats_the_key_does_not_get_it_into_the_journal() -> None:
    key = KEYS[0]
    reply = Reply(
        "answered",
        f"Your key is {key}.",
        tool_calls=(ToolCall("1", "f", f'{{"k": "{key}"}}'),),
        error=key,
    )
    assert key not in str(without_secret(reply, key))
    assert without_secret(reply, key).text == "Your key is [key]."
    assert without_secret(reply, "another key") is reply


def test_a_key_is_taken_out_of_every_field_of_a_reply() -> None:
    key = KEYS[0]
    calls = (ToolCall(key, f"name {key}", "{}"),)
    usage = {"prompt_tokens": 1.0, key: 2.0}
    reply = Reply("answered", "yes", usage, f"stop {key.upper()}", calls)
    plain = without_secret(reply, key)
    assert key.lower() not in str(plain).lower()
    assert (plain.text, plain.usage["prompt_tokens"]) == ("yes", 1.0)


@pytest.mark.parametrize(
    "spec",
    [
        "aB3dE5gH7jK9mN1pQ3rS5tU7",
        "aB3dE5gH7jK9mN1pQ3rS5tU7:m",
        "openai:m/aB3dE5gH7jK9mN1pQ3rS5tU7",
        "openai:m?aB3dE5gH7jK9mN1pQ3rS5tU7=1",
    ],
)
def test_what_looks_drawn_at_random_is_refused_wherever_it_stands(spec: str) -> None:
    with pytest.raises(SitusError, match="looks like a key") as refused:
        parse_spec(spec)
    assert "aB3dE5gH7jK9" not in str(refused.value)


def test_a_model_under_the_shells_folder_is_no_password(monkeypatch: pytest.MonkeyPatch) -> None:
    """`PWD` is called like a password; a folder of models below it may be named in full."""
    monkeypatch.setenv("PWD", "/data/models")
    monkeypatch.setenv("OLDPWD", "/data/models")
    refuse_secrets("hf", "/data/models/qwen", "", {})
    monkeypatch.setenv("DB_PWD", "/data/models")
    with pytest.raises(SitusError, match="looks like a key"):
        refuse_secrets("hf", "/data/models/qwen", "", {})
