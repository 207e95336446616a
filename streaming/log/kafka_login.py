"""How the log's clients log in, in the words of Spark's Java client: a JAAS line by mechanism.

PLAIN and SCRAM are tested against a broker; Kerberos and OAUTHBEARER only follow both clients'
documentation.
"""

from __future__ import annotations

from zklake.errors import SettingsError

_SECURITY = "org.apache.kafka.common.security"
_PASSWORD_MODULES = {
    "PLAIN": f"{_SECURITY}.plain.PlainLoginModule",
    "SCRAM-SHA-256": f"{_SECURITY}.scram.ScramLoginModule",
    "SCRAM-SHA-512": f"{_SECURITY}.scram.ScramLoginModule",
}
_KERBEROS, _OAUTH = "GSSAPI", "OAUTHBEARER"
_OIDC = "sasl.oauthbearer."


def take_login(given: dict[str, str]) -> dict[str, str]:
    """Take the options of SASL out of librdkafka's, as those of the Java client."""
    mechanism = given.pop("sasl.mechanisms", None) or given.pop("sasl.mechanism", None)
    given.pop("sasl.mechanism", None)
    if mechanism == _KERBEROS:
        return {"sasl.mechanism": mechanism, **_take_kerberos(given)}
    if mechanism == _OAUTH:
        return {"sasl.mechanism": mechanism, **_take_oauth(given)}
    user, password = given.pop("sasl.username", None), given.pop("sasl.password", None)
    if mechanism is None and user is None and password is None:
        return {}
    module = _PASSWORD_MODULES.get(mechanism or "")
    if module is None or user is None or password is None:
        raise SettingsError(
            f"log.client: SASL of `zklake stream` needs sasl.mechanisms = "
            f"{' or '.join(_PASSWORD_MODULES)}, sasl.username and sasl.password; or {_KERBEROS} "
            f"with a keytab; or {_OAUTH} with sasl.oauthbearer.method = oidc"
        )
    login = _write_login(module, username=user, password=password)
    return {"sasl.mechanism": str(mechanism), "sasl.jaas.config": login}


def _take_kerberos(given: dict[str, str]) -> dict[str, str]:
    names = ("sasl.kerberos.keytab", "sasl.kerberos.principal")
    keytab, principal = (given.pop(name, None) for name in names)
    given.pop("sasl.kerberos.kinit.cmd", None)  # Java renews tickets by itself
    given.pop("sasl.kerberos.min.time.before.relogin", None)
    if keytab is None or principal is None:
        raise SettingsError(f"log.client: {_KERBEROS} needs {' and '.join(names)}")
    login = _write_login(
        "com.sun.security.auth.module.Krb5LoginModule",
        useKeyTab="true",
        storeKey="true",
        keyTab=keytab,
        principal=principal,
    )
    service = given.pop("sasl.kerberos.service.name", "kafka")  # librdkafka's default
    return {"sasl.kerberos.service.name": service, "sasl.jaas.config": login}


def _take_oauth(given: dict[str, str]) -> dict[str, str]:
    names = ("method", "client.id", "client.secret", "token.endpoint.url", "scope")
    method, client, secret, url, scope = (given.pop(_OIDC + name, None) for name in names)
    if method != "oidc" or client is None or secret is None or url is None:
        raise SettingsError(
            f"log.client: {_OAUTH} needs {_OIDC}method = oidc, {_OIDC}client.id, "
            f"{_OIDC}client.secret and {_OIDC}token.endpoint.url"
        )
    known = {"clientId": client, "clientSecret": secret}
    login = known if scope is None else {**known, "scope": scope}
    return {
        "sasl.oauthbearer.token.endpoint.url": url,
        "sasl.login.callback.handler.class": (
            f"{_SECURITY}.oauthbearer.OAuthBearerLoginCallbackHandler"
        ),
        "sasl.jaas.config": _write_login(
            f"{_SECURITY}.oauthbearer.OAuthBearerLoginModule", **login
        ),
    }


def _write_login(module: str, **options: str) -> str:
    written = " ".join(f"{name}={_quote(value)}" for name, value in options.items())
    return f"{module} required {written};"


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n").replace("\r", "\\r") + '"'
