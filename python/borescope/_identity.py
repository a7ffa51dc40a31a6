"""Which content a remote object has, known without reading it: by its address and the version that its store
gives it. What two contents could have in common is no identity."""

from __future__ import annotations

import datetime
import email.utils
import hashlib
import json
import re
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

# What file systems of fsspec call a version that no other content of the object ever has. The first
# that there is counts: listings leave out some that a question about one object brings.
_VERSIONS = ("ETag", "etag", "generation", "VersionId", "version_id", "md5Hash", "Content-MD5",
             "content_md5", "sha256", "Digest")
_TIMES = ("LastModified", "last_modified", "updated", "Last-Modified")
# nginx makes ETags of the time of writing, in seconds, and the size: two versions of one second and
# size have the same.
_OF_TIME_AND_SIZE = re.compile(r'"?([0-9a-f]{1,15})-([0-9a-f]{1,15})"?')
_SETTLED_SECONDS = 60

# Parameters that sign an address, whatever it leads to.
_SIGNING = re.compile(r"(?i)x-(amz|goog)-.+|awsaccesskeyid|googleaccessid|signature|expires|policy|key-pair-id")
_IS_SIGNED = re.compile(r"(?i)(x-(amz|goog)-)?signature")
_SIGNING_AZURE = frozenset("sv ss srt sr sp st se sip spr sig skoid sktid skt ske sks skv saoid suoid scid"
                           .split())
# Options that are keys, and those that say how to ask but not what. Neither leads to other content.
_NO_PLACE = re.compile(r"(?i).*(key|secret|token|passw|credential|auth|cookie|user).*|sas|asynchronous|loop"
                       "|skip_instance_cache")
# Where file systems keep which server they ask, if options do not say it.
_SERVERS = ("endpoint_url", "account_name", "account_host", "host", "port", "_endpoint", "_location")


class Unidentified(Exception):
    """Why nobody knows which content an object has."""


def identity_of(system: Any, info: Mapping[str, Any], url: str) -> str:
    """A text that is that of this content alone: a hash, so that it tells nothing of keys in addresses.

    ``info`` is what the file system says of the object at ``url``. Raises :class:`Unidentified` where that
    leaves more than one content.
    """
    if _is_wrapper(system):
        raise Unidentified("it is read through another file system")
    name, version = _version_of(info)
    if urlsplit(url).scheme in ("http", "https"):
        _check_is_settled(info, version)
    parts = {"format": 1, "system": f"{type(system).__module__}.{type(system).__qualname__}",
             "address": _address_of(url), "server": _server_of(system),
             "options": _place_of(getattr(system, "storage_options", {})),
             "arguments": _place_of(list(getattr(system, "storage_args", ()))),
             "size": info.get("size"), "version": [name, version], "time": _time_of(info)}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def seconds_of(value: Any) -> Any:
    """A time as a store says it, in whole seconds: listings have fractions that other replies leave out."""
    if isinstance(value, datetime.datetime):
        aware = value if value.tzinfo else value.replace(tzinfo=datetime.timezone.utc)
        return int(aware.timestamp() // 1)
    return value


def _is_wrapper(system: Any) -> bool:
    """Whether files of it are made of those of another one: it may have kept what these were."""
    return hasattr(getattr(system, "fs", None), "storage_options") or not hasattr(system, "storage_options")


def _version_of(info: Mapping[str, Any]) -> tuple[str, str]:
    """The name and value of the first version that can be believed."""
    why = "its store gives it no ETag, version or checksum"
    for name in _VERSIONS:
        value = info.get(name)
        if value is None or isinstance(value, bool) or not isinstance(value, (str, int)) or value == "":
            continue
        text = str(value)
        if name in ("ETag", "etag") and text[:2] in ("W/", "w/"):
            why = "its ETag is a weak one"
        elif name != "Digest" or text.lower().startswith(("sha-256=", "sha-512=")):
            return name.lower(), text.strip('"')
    raise Unidentified(why)


def _check_is_settled(info: Mapping[str, Any], version: str) -> None:
    """Servers of files tell versions apart by times in seconds: what was written just now may be written
    again unseen."""
    written = [_seconds_of_header(info.get("Last-Modified"))]
    made = _OF_TIME_AND_SIZE.fullmatch(version)
    if made and int(made[2], 16) == info.get("size"):
        written.append(int(made[1], 16))
    if any(each is not None and time.time() - each < _SETTLED_SECONDS for each in written):
        raise Unidentified(f"it was written less than {_SETTLED_SECONDS} seconds ago")


def _seconds_of_header(text: Any) -> float | None:
    try:
        return email.utils.parsedate_to_datetime(text).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None


def _time_of(info: Mapping[str, Any]) -> str | None:
    return next((str(seconds_of(info[name])) for name in _TIMES if info.get(name)), None)


def _address_of(url: str) -> str:
    """The URL without what signs it, which is another one each time."""
    if "?" not in url:
        return url
    parts = urlsplit(url)
    query = parse_qsl(parts.query, keep_blank_values=True)
    names = {name for name, _ in query}
    if any(_IS_SIGNED.fullmatch(name) for name in names):
        query = [(name, value) for name, value in query if not _SIGNING.fullmatch(name)]
    elif {"sig", "sv"} <= names:
        query = [(name, value) for name, value in query if name not in _SIGNING_AZURE]
    return urlunsplit(parts._replace(query=urlencode(query)))


def _server_of(system: Any) -> list[Any]:
    """Which server is asked, as far as the file system says it."""
    client = getattr(getattr(system, "_s3", None), "meta", None)
    named = [getattr(system, name, None) for name in _SERVERS]
    return [each if isinstance(each, (str, int)) else None
            for each in (getattr(client, "endpoint_url", None), *named)]


def _place_of(options: Any) -> Any:
    """Options without keys, as JSON has them."""
    if options is None or isinstance(options, (bool, int, float, str)):
        return options
    if isinstance(options, Mapping):
        return {str(name): _place_of(value) for name, value in options.items()
                if not _NO_PLACE.fullmatch(str(name))}
    if isinstance(options, (list, tuple)):
        return [_place_of(each) for each in options]
    raise Unidentified(f"its storage options have an object of {type(options).__name__}")
