from __future__ import annotations

import pytest

from zklake.credential_signs import is_secret_value, resembles_credential


@pytest.mark.parametrize(
    "name",
    [
        *(
            "password",
            "sasl.pasword",
            "SASL_PASSWROD",
            "ssl.key.passwd",
            "my.pssword",
            "passphrase",
        ),
        *("pasphrase", "client.secret", "sceret", "secrets", "token", "tokne", "x_tokens", "cred"),
        *("credentails", "api_key", "ssl.key.pem", "bind.pw", "basic.auth.user.info", "pwd"),
    ],
)
def test_names_of_credentials_are_known_misspelt_ones_too(name: str) -> None:
    assert resembles_credential(name)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "bootstrap.servers",
            "security.protocol",
            "sasl.mechanisms",
            "sasl.username",
            "client.id",
        ),
        *("ssl.ca.location", "ssl.key.location", "ssl.keystore.type", "compression.type"),
        *("spark.driver.memory", "topic", "partition", "takeover", "records", "sector", "passive"),
        *("message.max.bytes", "socket.timeout.ms", "statistics.interval.ms", "ssl.cipher.suites"),
    ],
)
def test_ordinary_names_are_not_taken_for_credentials(name: str) -> None:
    assert not resembles_credential(name)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "password=x",
            "pwd: x",
            '{"token":"x',
            "api_key=x",
            "SharedAccessKey=x",
            "passphrase = x",
        ),
        *("Bearer abc", "Basic YWRtaW46", "https://TOKEN@h/", "https://u:p@h/", "u:p@h:9092"),
        "https://hooks.slack.com/services/T/B/x",
        "https://discord.com/api/webhooks/1/x",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.x",
        "-----BEGIN RSA PRIVATE KEY-----",
    ],
)
def test_values_that_give_themselves_away(text: str) -> None:
    assert is_secret_value(text)


@pytest.mark.parametrize(
    "text",
    [
        *("token-service_h-1794793318729-6a094f91-0", "TOKEN://h:9092", "webhook-events", "az-a"),
        *("basic-topic", "a@b_host-1794793318729-6a094f91-0", "[::1]:9092", "X://[::1]:9092"),
    ],
)
def test_names_and_addresses_are_not_taken_for_credentials(text: str) -> None:
    assert not is_secret_value(text)
