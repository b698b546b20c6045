"""The `identity` section: who may call, and how that is proved."""

import re
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Annotated, Final, Literal, Self, cast

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from gateway import jsontext
from gateway.config.addresses import TrustedUrl
from gateway.config.section import Many, Section, Unique
from gateway.config.units import Duration, Word

Algorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"]

_NAME: Final = re.compile(r"[^\x00-\x20\x7f](?:[^\x00-\x1f\x7f]{0,254}[^\x00-\x20\x7f])?")
_SCOPE: Final = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]{1,256}", re.ASCII)  # RFC 6749, 3.3
_KEY_ID: Final = re.compile(r"[A-Za-z0-9-]{1,40}", re.ASCII)
_HASH: Final = re.compile(r"sha256:[0-9a-f]{64}", re.ASCII)


def _check_name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise PydanticCustomError(
            "name",
            "is not a name; 1 to 256 characters, no control characters, no blanks at its ends",
        )
    return text


def _check_scope(text: str) -> str:
    if not _SCOPE.fullmatch(text):
        raise PydanticCustomError("scope", "is not a scope; no blanks, quotes or backslashes")
    return text


def _check_key_id(text: str) -> str:
    if not _KEY_ID.fullmatch(text):
        raise PydanticCustomError("key_id", "is not a key id; up to 40 letters, digits and `-`")
    return text


def _check_hash(text: str) -> str:
    if not _HASH.fullmatch(text):
        raise PydanticCustomError(
            "hash",
            "is not the hash of a key; it reads `sha256:` and 64 lower-case hex digits, over the "
            "whole key",
        )
    return text


def _parse_moment(value: object) -> datetime:
    """Read a date (midnight UTC) or a time with its offset; a time without one is ambiguous."""
    try:
        if isinstance(value, str) and len(value) == len("2027-01-31"):
            return datetime.combine(date.fromisoformat(value), time(), UTC)
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise PydanticCustomError(
            "moment", "is not a time; write `2027-01-31` or `2027-01-31T12:00:00+00:00`"
        )
    return moment.astimezone(UTC)


def _check_claim(path: str) -> str:
    if path.startswith("/"):
        jsontext.tokens(path)  # raises the mend
    return _check_name(path)


Name = Annotated[str, AfterValidator(_check_name)]
ClaimPath = Annotated[str, AfterValidator(_check_claim), Word("claim")]
Scope = Annotated[str, AfterValidator(_check_scope)]
KeyId = Annotated[
    str,
    AfterValidator(_check_key_id),
    WithJsonSchema({"type": "string", "pattern": f"^{_KEY_ID.pattern}$"}),
]
KeyHash = Annotated[
    str,
    AfterValidator(_check_hash),
    Word("hash"),
    WithJsonSchema({"type": "string", "pattern": f"^{_HASH.pattern}$"}),
]
Moment = Annotated[
    datetime,
    BeforeValidator(_parse_moment, json_schema_input_type=str),
    Word("date or time"),
]


class LocalSettings(Section):
    """Who acts over stdio, and over HTTP on this machine while no keys or issuers are given."""

    user: Name = Field(default="local", description="name of the user")
    tenant: Name = Field(default="local", description="name of the tenant")
    roles: Unique[Name] = Field(default=frozenset(), description="roles, for policies")
    scopes: Unique[Scope] = Field(default=frozenset(), description="scopes, for contracts")


class ApiKeySettings(Section):
    """One API key, sent as `Authorization: Bearer wb_<id>_<secret>`; only its hash is kept."""

    id: KeyId = Field(description="name of the key; it is part of the key and of every event")
    hash: KeyHash = Field(description="`sha256:` and the hex SHA-256 of the whole key")
    user: Name = Field(description="name of the user")
    tenant: Name = Field(description="name of the tenant")
    roles: Unique[Name] = Field(default=frozenset(), description="roles, for policies")
    scopes: Unique[Scope] = Field(default=frozenset(), description="scopes, for contracts")
    client: Name | None = Field(default=None, description="name of the client; default: `id`")
    expires: Moment | None = Field(default=None, description="when the key stops to work")


class ClaimsSettings(Section):
    """Where a token says who acts: a claim, a dotted path or a JSON Pointer such as `/org/id`."""

    user: ClaimPath = Field(default="sub", description="the user; a token without it is refused")
    tenant: ClaimPath | None = Field(
        default=None, description="the tenant; a token without it is refused"
    )
    roles: ClaimPath = Field(default="roles", description="the roles: a text or a list of texts")
    scopes: ClaimPath = Field(
        default="scope", description="the scopes: a text with blanks, or a list of texts"
    )
    client: ClaimPath = Field(
        default="client_id", description="the client; `azp` when it is missing"
    )


class JwtSettings(Section):
    """One issuer of access tokens (RFC 9068), and how its tokens are read."""

    issuer: TrustedUrl = Field(description="the exact `iss` of its tokens")
    audience: Many[Name] = Field(
        description="accepted `aud`: one or a list; a token for anybody else is refused",
    )
    jwks_url: TrustedUrl | None = Field(default=None, description="where its keys are published")
    jwks_file: Path | None = Field(
        default=None, description="file with its keys, read again when it changes"
    )
    algorithms: Many[Algorithm] = Field(
        default=("RS256", "ES256", "EdDSA"),
        description="accepted signatures; symmetric ones and `none` don't exist here",
    )
    token_type: Literal["any", "at+jwt"] = Field(
        default="any", description="`at+jwt` refuses tokens that don't say that they are for access"
    )
    clock_skew: Duration = Field(
        default=60.0, ge=0, le=300, description="how far its clock may differ from ours, up to 5m"
    )
    claims: ClaimsSettings = Field(
        default_factory=ClaimsSettings, description=ClaimsSettings.__doc__
    )
    tenant: Name | None = Field(
        default=None, description="tenant of every token of this issuer, instead of a claim"
    )
    tenants: Unique[Name] = Field(
        default=frozenset(), description="the only tenants that this issuer may speak for"
    )
    required_scopes: Many[Scope] = Field(
        default=(), description="scopes that every token must have"
    )

    @field_validator("audience", mode="before", json_schema_input_type=str | list[str])
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        if value in ([], ""):
            raise PydanticCustomError("audience", "is empty; a token has to be for somebody")
        return [value] if isinstance(value, str) else value

    @field_validator("algorithms", mode="before")
    @classmethod
    def _asymmetric(cls, value: object) -> object:
        names = cast("list[object]", value) if isinstance(value, list) else []  # a JSON array
        if value == []:
            raise PydanticCustomError("algorithm", "is empty; leave it out for the default")
        for name in names:
            if isinstance(name, str) and (name.upper().startswith("HS") or name.lower() == "none"):
                raise PydanticCustomError(
                    "algorithm",
                    "names `{name}`, which proves nothing; use an asymmetric one, such as `RS256`",
                    {"name": name},
                )
        return cast("object", value)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if (self.jwks_url is None) == (self.jwks_file is None):
            raise PydanticCustomError("jwt", "needs `jwks_url` or `jwks_file`, and not both")
        if (self.tenant is None) == (self.claims.tenant is None):
            raise PydanticCustomError(
                "jwt", "needs `claims.tenant` or a fixed `tenant`, and not both"
            )
        if self.tenant is not None and self.tenants:
            raise PydanticCustomError(
                "jwt", "has `tenants`, which means nothing beside a fixed `tenant`; remove it"
            )
        return self

    @property
    def speaks_for(self) -> frozenset[str]:
        """The tenants that it may name; empty means any."""
        return frozenset({self.tenant}) if self.tenant is not None else self.tenants


class IdentitySettings(Section):
    """Who may call: keys, issuers of tokens, and who acts where neither is needed."""

    local: LocalSettings = Field(default_factory=LocalSettings, description=LocalSettings.__doc__)
    api_keys: Many[ApiKeySettings] = Field(default=(), description=ApiKeySettings.__doc__)
    jwt: Many[JwtSettings] = Field(default=(), description=JwtSettings.__doc__)

    @property
    def authenticates(self) -> bool:
        """Whether a caller over HTTP has to show a credential."""
        return bool(self.api_keys or self.jwt)

    @field_validator("api_keys")
    @classmethod
    def _ids_differ(cls, keys: tuple[ApiKeySettings, ...]) -> tuple[ApiKeySettings, ...]:
        return check_ids(keys)

    @field_validator("jwt")
    @classmethod
    def _issuers_are_apart(cls, issuers: tuple[JwtSettings, ...]) -> tuple[JwtSettings, ...]:
        if len({issuer.issuer for issuer in issuers}) < len(issuers):
            raise PydanticCustomError("jwt", "has the same `issuer` twice; join the entries")
        if len(issuers) > 1 and not all(issuer.speaks_for for issuer in issuers):
            # Otherwise any issuer could sign tokens for the tenants of another.
            raise PydanticCustomError(
                "jwt", "has more than one issuer, so each needs `tenant` or `tenants`"
            )
        return issuers


def check_ids(keys: tuple[ApiKeySettings, ...]) -> tuple[ApiKeySettings, ...]:
    """Refuse two keys with one id, or one hash under two ids."""
    if len({key.id for key in keys}) < len(keys):
        raise PydanticCustomError("api_keys", "has two keys with the same `id`; rename one")
    if len({key.hash for key in keys}) < len(keys):
        raise PydanticCustomError("api_keys", "has two keys with the same `hash`; make a new one")
    return keys
