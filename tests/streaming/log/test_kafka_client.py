from __future__ import annotations

from pathlib import Path

import pytest

from streaming.log.kafka_client import translate_options
from zklake.errors import SettingsError

KEY = "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\n"


def test_nothing_given_is_nothing_set() -> None:
    assert translate_options({}) == {}


def test_sasl_and_a_ca(tmp_path: Path) -> None:
    ca = tmp_path / "ca.pem"
    ca.write_text("-----BEGIN CERTIFICATE-----")
    java = translate_options(
        {
            "security.protocol": "sasl_ssl",
            "sasl.mechanisms": "SCRAM-SHA-512",
            "sasl.username": "u",
            "sasl.password": 'p"\\; x',
            "ssl.ca.location": str(ca),
            "ssl.endpoint.identification.algorithm": "none",
            "linger.ms": "5",
            "message.max.bytes": "1",
        }
    )
    assert java == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required "
        'username="u" password="p\\"\\\\; x";',
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(ca),
        "ssl.endpoint.identification.algorithm": "",
    }


def test_kerberos_and_oauth_by_configuration() -> None:
    kerberos = {
        "sasl.mechanisms": "GSSAPI",
        "sasl.kerberos.keytab": "/k.keytab",
        "sasl.kerberos.principal": "zklake@EXAMPLE",
    }
    assert translate_options(kerberos) == {
        "sasl.mechanism": "GSSAPI",
        "sasl.kerberos.service.name": "kafka",
        "sasl.jaas.config": "com.sun.security.auth.module.Krb5LoginModule required "
        'useKeyTab="true" storeKey="true" keyTab="/k.keytab" principal="zklake@EXAMPLE";',
    }
    oauth = {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.client.id": "zklake",
        "sasl.oauthbearer.client.secret": "s",
        "sasl.oauthbearer.token.endpoint.url": "https://h/token",
    }
    module = "org.apache.kafka.common.security.oauthbearer"
    assert translate_options(oauth) == {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.token.endpoint.url": "https://h/token",
        "sasl.login.callback.handler.class": f"{module}.OAuthBearerLoginCallbackHandler",
        "sasl.jaas.config": f"{module}.OAuthBearerLoginModule required "
        'clientId="zklake" clientSecret="s";',
    }


def test_a_client_certificate(tmp_path: Path) -> None:
    key = tmp_path / "key.pem"
    key.write_text(KEY)
    given = {"ssl.certificate.pem": "CHAIN", "ssl.key.location": str(key), "ssl.key.password": "s"}
    assert translate_options(given) == {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": "CHAIN",
        "ssl.keystore.key": KEY,
        "ssl.key.password": "s",
    }
    stored = {"ssl.keystore.location": "/k.p12", "ssl.keystore.password": "s"}
    assert translate_options(stored) == {**stored, "ssl.keystore.type": "PKCS12"}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"enable.ssl.certificate.verification": "false"}, "enable.ssl.certificate.verification"),
        ({"ssl.ca.location": "/no/such"}, "ssl.ca.location = /no/such"),
        ({"ssl.ca.location": "/"}, "use a PEM file"),
        ({"ssl.key.pem": KEY}, "need one another"),
        ({"ssl.key.pem": "BEGIN RSA PRIVATE KEY", "ssl.certificate.pem": "c"}, "openssl pkcs8"),
        ({"sasl.mechanisms": "GSSAPI"}, "needs sasl.kerberos.keytab and"),
        ({"sasl.mechanisms": "NTLM"}, "PLAIN or SCRAM-SHA-256"),
        (
            {"sasl.mechanisms": "OAUTHBEARER", "sasl.oauthbearer.client.secret": "canary"},
            "needs sasl.oauthbearer.method = oidc",
        ),
        ({"sasl.username": "u", "sasl.password": "canary"}, "sasl.mechanisms ="),
        ({"oauth.secret": "canary"}, "oauth.secret"),
    ],
)
def test_what_it_cannot_do_is_refused_without_showing_secrets(
    given: dict[str, str], says: str
) -> None:
    with pytest.raises(SettingsError, match=says) as caught:
        translate_options(given)
    assert "canary" not in str(caught.value)
    assert "PRIVATE" not in str(caught.value)
