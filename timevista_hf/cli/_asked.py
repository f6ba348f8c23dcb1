"""What is judged, by whom and how: the options that several commands share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import MISSING, dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import typer

from timevista_hf import io
from timevista_hf.cases import ForecastCase
from timevista_hf.cli._console import out, say
from timevista_hf.cli._tables import cost_table
from timevista_hf.costs import Budget, BudgetJudge, estimate_cost, load_prices
from timevista_hf.judges import Judge, JudgeOptions, Request, Store, list_judges, load_judge
from timevista_hf.pipeline import RubricsFor
from timevista_hf.rendering import Style
from timevista_hf.rubrics import Modality, Rubric, load_rubric, select_rubrics

Level = Literal["micro", "macro"]
Order = Literal["day", "month"]
Format = Literal["table", "json"]

JUDGE = "Judge"  # the panel of options about it
_COLUMNS = "Columns, where their names do not tell"
_READING = "Reading, where the file can be read in two ways"
MODELS = "openai:MODEL, anthropic:MODEL, gemini:MODEL, hf:MODEL, server:URL#MODEL, local:MODEL"


def _of_judge(text: str, default: object = None, **rules: Any) -> Any:
    shown = "" if default is None else f"  (default: {default})"
    return typer.Option(help=f"{text}{shown}", rich_help_panel=JUDGE, **rules)


JudgeName = Annotated[str, _of_judge(f"{', '.join(list_judges())}, {MODELS}.")]
Runs = Annotated[int, _of_judge("Ask each question so often.", min=1)]
Shown = Annotated[
    Modality | None, _of_judge("Show a model the plot, or the numbers.", JudgeOptions.modality)
]
MaxTokens = Annotated[
    int | None, _of_judge("Longest reply of a model, in tokens.", JudgeOptions.max_tokens, min=1)
]
Timeout = Annotated[
    float | None, _of_judge("Seconds that one try may take.", f"{JudgeOptions.timeout:g}")
]
Concurrency = Annotated[
    int | None, _of_judge("Most questions at once.", JudgeOptions.concurrency, min=1)
]
Attempts = Annotated[
    int | None, _of_judge("Tries while a server is busy.", JudgeOptions.attempts, min=1)
]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The options, as typed; the methods make of them what the library takes."""

    file: Annotated[Path, typer.Argument(help="Forecasts: CSV, Parquet or JSON Lines, also .gz.")]
    actuals: Annotated[Path | None, typer.Option(help="A second file with history and truth.")] = (
        None
    )
    level: Annotated[
        Level, typer.Option(help="Four aspects and the whole, or the whole alone.")
    ] = "micro"
    knowledge: Annotated[
        bool, typer.Option("--knowledge", help="With --level macro: the dataset's own rubric too.")
    ] = False
    dataset: Annotated[str | None, typer.Option(help="Dataset of all series, for --knowledge.")] = (
        None
    )
    rubric: Annotated[
        str | None, typer.Option(help="Only this rubric: a name, or a file of your own.")
    ] = None
    dimension: Annotated[
        list[str] | None, typer.Option(help="Only this dimension; may be given again.")
    ] = None
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many windows.")] = None
    output: Annotated[
        Path | None, typer.Option(help="Folder of the results.  (default: FILE-scores)")
    ] = None
    context: Annotated[
        int | None,
        typer.Option(min=1, help="Steps of history in the plot.  (default: 3 horizons)"),
    ] = None
    aspect: Annotated[str, typer.Option(help="Of the plot: 6:5, 12:5, 18:5 or 24:5.")] = "12:5"
    judge: JudgeName = "builtin"
    runs: Runs = 1
    joint: Annotated[
        bool,
        typer.Option("--joint", help="One question for all dimensions.", rich_help_panel=JUDGE),
    ] = False
    modality: Shown = None
    max_tokens: MaxTokens = None
    timeout: Timeout = None
    concurrency: Concurrency = None
    attempts: Attempts = None
    id_column: Annotated[str | None, typer.Option(rich_help_panel=_COLUMNS)] = None
    time_column: Annotated[str | None, typer.Option(rich_help_panel=_COLUMNS)] = None
    target_column: Annotated[str | None, typer.Option(rich_help_panel=_COLUMNS)] = None
    cutoff_column: Annotated[str | None, typer.Option(rich_help_panel=_COLUMNS)] = None
    model: Annotated[
        list[str] | None,
        typer.Option(help="A column to judge; may be given again.", rich_help_panel=_COLUMNS),
    ] = None
    season_length: Annotated[
        int | None,
        typer.Option(min=1, help="Steps in a season.", rich_help_panel=_READING),
    ] = None
    delimiter: Annotated[str | None, typer.Option(rich_help_panel=_READING)] = None
    decimal: Annotated[
        str | None, typer.Option(help="The decimal mark, . or ,", rich_help_panel=_READING)
    ] = None
    first: Annotated[
        Order | None,
        typer.Option(help="Which comes first in 1/2/2024.", rich_help_panel=_READING),
    ] = None

    @property
    def folder(self) -> Path:
        """Where the results go."""
        return self.output or Path(f"{self.file.name.split('.')[0]}-scores")

    @property
    def style(self) -> Style:
        """How cases are drawn."""
        return replace(Style.with_aspect(self.aspect), context=self.context)

    def load_judge(self, name: str | None = None) -> Judge:
        """Make the judge, or another one of that name."""
        options = given_options(
            modality=self.modality,
            max_tokens=self.max_tokens,
            timeout=self.timeout,
            concurrency=self.concurrency,
            attempts=self.attempts,
        )
        return load_judge(name or self.judge, options=options)

    def read_table(self) -> io.ForecastTable:
        """Read the file."""
        return io.read_forecasts(
            self.file,
            actuals=self.actuals,
            columns=io.Columns(
                id=self.id_column,
                time=self.time_column,
                target=self.target_column,
                cutoff=self.cutoff_column,
                models=tuple(self.model) if self.model else None,
            ),
            delimiter=self.delimiter,
            decimal=self.decimal,
            day_first=None if self.first is None else self.first == "day",
            season_length=self.season_length,
        )

    def select_rubrics(self) -> list[Rubric] | RubricsFor:
        """Load the rubrics, for all cases or by their dataset."""
        dimensions = self.dimension or []
        if self.rubric is not None:
            if self.knowledge or self.dataset or dimensions:
                raise ValueError(
                    "--rubric stands alone: leave out --knowledge, --dataset, --dimension"
                )
            return [load_rubric(self.rubric)]
        if not self.knowledge:
            if self.dataset:
                raise ValueError("--dataset names the rubric of --knowledge: add --knowledge")
            return select_rubrics(self.level, dimensions=dimensions)
        if self.level != "macro":
            raise ValueError("--knowledge belongs to the macro level: add --level macro")
        if self.dataset:
            return select_rubrics("macro", dimensions=dimensions, dataset=self.dataset)
        return _rubrics_by_dataset(dimensions)


def given_options(**options: Any) -> JudgeOptions:
    """Make the options of a judge of those that were typed; a preset's hold for the others."""
    return JudgeOptions(**{name: one for name, one in options.items() if one is not None})


def within_budget(budget: float, judges: list[Judge]) -> list[Judge]:
    """Share a budget equally: each judge of a panel has a price of its own."""
    prices = load_prices()
    share = budget / len(judges)
    return [BudgetJudge(judge, Budget(share, prices.find(judge))) for judge in judges]


def print_cost(judge: Judge, requests: Iterable[Request], file: Path) -> None:
    """Print what requests cost, but for those whose answers are in a store."""
    with Store(file) if file.exists() else nullcontext() as store:
        estimate = estimate_cost(requests, judge, store=store)
    out.print(cost_table(judge.name, estimate))
    for note in estimate.notes:
        say(note)


def asks(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command, which takes an `Asked` first, all of its options on the command line."""
    hints = get_type_hints(Asked, include_extras=True)
    shared = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(Asked)
    ]
    own_hints = get_type_hints(command, include_extras=True)
    own = [
        parameter.replace(annotation=own_hints[name])
        for name, parameter in list(inspect.signature(command).parameters.items())[1:]
    ]

    @functools.wraps(command)
    def typed(**given: Any) -> None:
        asked = Asked(**{field.name: given.pop(field.name) for field in fields(Asked)})
        command(asked, **given)

    signature = inspect.Signature([*shared, *own])
    typed.__dict__.pop("__wrapped__", None)
    typed.__signature__ = signature  # type: ignore[attr-defined]
    typed.__annotations__ = {p.name: p.annotation for p in signature.parameters.values()}
    return typed


def _rubrics_by_dataset(dimensions: list[str]) -> RubricsFor:
    known: dict[str, list[Rubric]] = {}

    def rubrics_for(case: ForecastCase) -> list[Rubric]:
        if case.dataset is None:
            raise ValueError(
                f"{case.label}: --knowledge needs its dataset; give --dataset NAME, or a column "
                "`dataset` in the file"
            )
        if case.dataset not in known:
            known[case.dataset] = select_rubrics(
                "macro", dimensions=dimensions, dataset=case.dataset
            )
        return known[case.dataset]

    return rubrics_for
