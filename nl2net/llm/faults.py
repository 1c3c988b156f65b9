"""What can go wrong at an endpoint, in the words of the person who has to mend it.

Messages of servers are quoted only where they help, shortened, and never where they may repeat a key.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx
import openai

from nl2net.errors import EndpointError, ModelError, Nl2netError, ReplyError
from nl2net.llm.endpoint import Endpoint

_RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_LONGEST_WAIT_S = 20.0
_QUOTED = 300


class Cancelled(ModelError):
    """The caller stopped the request."""

    exit_code = 130


def _chain(error: BaseException) -> Iterator[BaseException]:
    current: BaseException | None = error
    while current is not None:
        yield current
        current = current.__cause__ or current.__context__


def own_error(error: BaseException) -> Nl2netError | None:
    """The error of nl2net behind an error of the client library, such as a refusal of the gate."""
    return next((found for found in _chain(error) if isinstance(found, Nl2netError)), None)


def retry_wait(error: BaseException, attempt: int) -> float | None:
    """Seconds to wait before trying again, or ``None`` if that is pointless.

    ``Retry-After`` is honoured up to 20 seconds; a longer one ends the request, since the user is waiting.
    """
    if own_error(error) is not None:
        return None
    backoff = min(0.5 * 2.0**attempt, _LONGEST_WAIT_S)
    if isinstance(error, openai.APIStatusError):
        if error.status_code not in _RETRIED or "insufficient_quota" in str(error.code or ""):
            return None
        asked = _retry_after(error.response.headers)
        return backoff if asked is None else asked if asked <= _LONGEST_WAIT_S else None
    refused = any(isinstance(found, httpx.ConnectError) for found in _chain(error))
    dropped = any(isinstance(found, httpx.RemoteProtocolError | httpx.ReadError) for found in _chain(error))
    return backoff if dropped and not refused else None


def _retry_after(headers: httpx.Headers) -> float | None:
    milliseconds = headers.get("retry-after-ms")
    try:
        if milliseconds is not None:
            return max(float(milliseconds) / 1000, 0.0)
        return max(float(headers["retry-after"]), 0.0)
    except (KeyError, ValueError):
        return None


def explain(error: BaseException, endpoint: Endpoint) -> Nl2netError:
    """Turn an error of the client library into one of nl2net."""
    own = own_error(error)
    if own is not None:
        return own
    if isinstance(error, openai.APIStatusError):
        return _explain_status(error, endpoint)
    if isinstance(error, openai.APITimeoutError | httpx.TimeoutException):
        return timed_out(endpoint)
    if any(isinstance(found, httpx.ConnectError) for found in _chain(error)):
        return EndpointError(
            f"no connection to {endpoint.base_url}",
            hint="Is the server running and the address right? `nl2net model status` shows what is in use.",
        )
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError | openai.APIResponseValidationError):
        return ReplyError(
            f"{endpoint.base_url} sent a reply that is not valid JSON",
            hint="The reply was cut on its way, or something else answers at this address.",
        )
    if isinstance(error, openai.APIConnectionError | httpx.TransportError):
        return EndpointError(
            f"{endpoint.base_url} closed the connection before the reply was complete",
            hint="Try again; if it stays, look at the log of the server.",
        )
    if isinstance(error, openai.APIError):
        return EndpointError(f"{endpoint.base_url} reported: {_quote(error.message, endpoint)}")
    return EndpointError(f"{endpoint.base_url} sent a reply that cannot be read ({type(error).__name__})")


def timed_out(endpoint: Endpoint) -> EndpointError:
    """The error for a reply that did not come in time."""
    return EndpointError(
        f"{endpoint.base_url} did not complete its reply in time",
        hint="Raise NL2NET_REQUEST_TIMEOUT_S, or use a smaller model.",
    )


def _explain_status(error: openai.APIStatusError, endpoint: Endpoint) -> Nl2netError:
    status, at = error.status_code, endpoint.base_url
    if status in (401, 403):
        return EndpointError(
            f"{at} refused the key (HTTP {status})", hint="Check OPENAI_API_KEY and that it belongs to this address."
        )
    quoted = _quote(error.message, endpoint)
    if status == 404:
        return EndpointError(
            f"{at} has no model {endpoint.model!r} (HTTP 404)",
            hint="`nl2net model list` shows the models of this endpoint; check the base URL, it usually ends in /v1.",
        )
    if status == 429:
        return EndpointError(
            f"{at} is at its rate limit or quota (HTTP 429): {quoted}", hint="Wait, or use another model."
        )
    if "context" in quoted.lower() and status in (400, 413, 422):
        return EndpointError(
            f"the prompt is too long for {endpoint.model!r}: {quoted}",
            hint="Lower NL2NET_SCHEMA_TOKENS or --max-tokens.",
        )
    if status >= 500:
        return EndpointError(f"{at} failed (HTTP {status}): {quoted}", hint="Try again later, or use another model.")
    return EndpointError(f"{at} refused the request (HTTP {status}): {quoted}")


def _quote(text: str, endpoint: Endpoint) -> str:
    clean = " ".join(text.split())
    if endpoint.api_key:
        clean = clean.replace(endpoint.api_key, "[key]")
    return clean if len(clean) <= _QUOTED else clean[:_QUOTED] + " ..."
