"""The clients of the `openai` and `anthropic` packages, which are alike, and their errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from timevista_hf.judges._failures import AttemptError
from timevista_hf.judges._reading import fault, json_in
from timevista_hf.judges._session import Send


def posting(package: ModuleType, client: Any, path: str) -> Send:
    """Make what posts a body to a path by a client of that package, and gives the response."""

    async def send(body: dict[str, Any]) -> Mapping[str, Any]:
        with client_errors(package):
            text = await client.post(path, body=body, cast_to=str)
        return json_in(text)

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
        failure = fault(error.body, status=error.status_code, headers=error.response.headers)
    except (client.APIError, ValueError) as error:
        failure = AttemptError(f"the response cannot be read ({type(error).__name__})")
    if failure is not None:
        raise failure
