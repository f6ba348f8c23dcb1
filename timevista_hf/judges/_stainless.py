"""The clients of the `openai` and `anthropic` packages, which are alike, and their errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from timevista_hf.judges._ladder import AttemptError
from timevista_hf.judges._remote import count
from timevista_hf.judges._session import Send, wait_of


def posting(package: ModuleType, client: Any, path: str) -> Send:
    """Make what posts a body to a path by a client of that package, and gives the response."""

    async def send(body: dict[str, Any]) -> Mapping[str, Any]:
        with client_errors(package):
            response = await client.post(path, body=body, cast_to=object)
        if not isinstance(response, Mapping) or response.get("error"):
            raise fault(response)
        return response

    return send


@contextmanager
def client_errors(client: ModuleType) -> Iterator[None]:
    """Raise what the client raises as an `AttemptError`, without the request that it holds."""
    failure: AttemptError | None = None
    try:
        yield
    except client.APITimeoutError:
        failure = AttemptError("no answer in time", code="timeout")
    except client.APIConnectionError as error:
        cause = type(error.__cause__ or error).__name__
        failure = AttemptError(f"the connection failed ({cause})")
    except client.APIStatusError as error:
        headers = error.response.headers
        failure = fault(error.body, status=error.status_code, retry_after=wait_of(headers))
    except (client.APIError, ValueError) as error:
        failure = AttemptError(f"the response cannot be read ({type(error).__name__})")
    if failure is not None:
        raise failure


def fault(
    body: Any, *, status: int | None = None, retry_after: float | None = None
) -> AttemptError:
    """Read an error's body, also one that came with status 200.

    Examples
    --------
    >>> fault({"error": {"message": "slow down", "code": 429}}).status
    429
    """
    if not isinstance(body, Mapping):
        said = str(body)[:300] if body else "the response holds no JSON object"
        return AttemptError(said, status=status, retry_after=retry_after)
    detail = body.get("error") or body
    if not isinstance(detail, Mapping):
        detail = {"message": detail}
    code, parameter = detail.get("code"), detail.get("param")
    usage = body.get("usage")
    return AttemptError(
        str(detail.get("message") or detail.get("detail") or "no reason given"),
        status=status or (code if isinstance(code, int) else None),
        retry_after=retry_after,
        parameter=parameter if isinstance(parameter, str) else None,
        code=code if isinstance(code, str) else None,
        tokens=(count(usage, "prompt_tokens"), count(usage, "completion_tokens")),
    )
