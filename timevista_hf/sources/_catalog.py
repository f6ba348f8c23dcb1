"""The thirteen real datasets of TimeVista, one entry each."""

from __future__ import annotations

from timevista_hf.loading.known import check_known
from timevista_hf.sources._source import Hub, Part, Source, Web
from timevista_hf.sources._windows import Blocks, Cutoffs, Rolling, TestSpan


def list_sources() -> list[str]:
    """Name the datasets, in alphabetical order.

    Examples
    --------
    >>> len(list_sources()), list_sources()[:2]
    (13, ['australia_solar', 'azure2019'])
    """
    return sorted(_SOURCES)


def load_source(name: str) -> Source:
    """Return what is known of a dataset.

    Raises
    ------
    ValueError
        For an unknown name.

    Examples
    --------
    >>> load_source("crypto").count
    29
    """
    check_known("dataset", name, list_sources())
    return _SOURCES[name]


def window_lengths(name: str, steps: int, *, part: str | None = None) -> list[tuple[int, int]]:
    """Give the lengths of the windows that the rule of a dataset cuts from a series.

    Parameters
    ----------
    name : str
        One of `list_sources`.
    steps : int
        Length of the series; electrocardiograms are counted at 100 Hz.
    part : str, optional
        Name of the dataset's part; needed where it has several.

    Returns
    -------
    list of tuple of int
        Input length and horizon of every window; empty where the series is too short.

    Raises
    ------
    ValueError
        For an unknown name or part.

    Examples
    --------
    >>> window_lengths("crypto", 2842)[0], window_lengths("crypto", 2842)[-1]
    ((2569, 30), (2809, 30))
    """
    parts = {entry.name: entry for entry in load_source(name).parts}
    if part is None and len(parts) == 1:
        [part] = parts
    check_known(f"part of {name}", part, list(parts))
    assert part is not None
    return [(one.input_length, one.horizon) for one in parts[part].rule.windows(steps)]


_TIME = Hub(repo_id="Real-TSF/TIME")
_TIME_PAGE = "https://huggingface.co/datasets/Real-TSF/TIME"
_TIME_LICENCE = "CC BY-NC 4.0"
_TIME_CITATION = (
    "Qiao et al. (2026). It's TIME: Towards the next generation of time series forecasting "
    "benchmarks. arXiv:2602.12147"
)
_GIFT = Hub(repo_id="Salesforce/GiftEval")
_GIFT_PAGE = "https://huggingface.co/datasets/Salesforce/GiftEval"
_GIFT_CITATION = (
    "Aksu et al. (2024). GIFT-Eval: A benchmark for general time series forecasting model "
    "evaluation. arXiv:2410.10393"
)
_PHYSIONET = (
    "Goldberger et al. (2000). PhysioBank, PhysioToolkit, and PhysioNet. Circulation 101(23), "
    "e215-e220"
)
_ECG_WINDOWS = Blocks(500, 100, stride=500)
_ECG_NOTES = (
    "Resampled to 100 Hz; windows of 500 and 100 steps, one every 500, as in the ECG benchmark "
    "arXiv:2507.14206, which has the same lengths: that TimeVista took its rule is inferred. "
    "Values stay in mV and are not standardised. Table 3 names a step of a second or a minute; it "
    "is 10 ms."
)


def _saved(
    folder: str, freq: str, season_length: int | None, rule: TestSpan | Rolling, name: str = "all"
) -> Part:
    """Make the part of a folder that `datasets` saved."""
    path = f"{folder}/data-00000-of-00001.arrow"
    return Part(name=name, path=path, freq=freq, season_length=season_length, rule=rule)


_ENTRIES = (
    Source(
        name="australia_solar",
        title="Australia Solar",
        domain="Energy",
        url=_TIME_PAGE,
        origin=_TIME,
        format="arrow",
        parts=(_saved("Australia_Solar/H", "h", 24, TestSpan(2520, (24, 72, 168))),),
        licence=_TIME_LICENCE,
        redistributable=True,
        citation=_TIME_CITATION,
        unit=None,
        count=448,
        notes="The unit, kW or MW, is not stated at the origin.",
    ),
    Source(
        name="azure2019",
        title="Azure2019",
        domain="Web/CloudOps",
        url=_TIME_PAGE,
        origin=_TIME,
        format="arrow",
        parts=(
            _saved("azure2019_D/5T", "5min", 288, TestSpan(864, (288,)), name="D"),
            _saved("azure2019_I/5T", "5min", 288, TestSpan(864, (288,)), name="I"),
            _saved("azure2019_U/5T", "5min", 288, TestSpan(288, (48,)), name="U"),
        ),
        licence=f"{_TIME_LICENCE}; the traces themselves CC BY 4.0",
        redistributable=True,
        citation=f"Cortez et al. (2017). SOSP. doi:10.1145/3132747.3132772; {_TIME_CITATION}",
        unit="%",
        count=500,
        notes="The three parts are delay-insensitive, interactive and unknown virtual machines.",
    ),
    Source(
        name="covid_death",
        title="Covid Death",
        domain="HealthCare",
        url="https://github.com/CSSEGISandData/COVID-19",
        origin=Web(
            pattern="https://raw.githubusercontent.com/CSSEGISandData/COVID-19/master/"
            "csse_covid_19_data/csse_covid_19_time_series/{path}"
        ),
        format="jhu",
        parts=(
            Part(
                name="all",
                path="time_series_covid19_deaths_global.csv",
                freq="D",
                season_length=7,
                rule=Cutoffs((200, 267, 334, 401, 468), horizon=21),
            ),
        ),
        licence="CC BY 4.0",
        redistributable=True,
        citation=(
            "Dong, Du, Gardner (2020). An interactive web-based dashboard to track COVID-19 in "
            "real time. Lancet Infect Dis 20(5), 533-534. doi:10.1016/S1473-3099(20)30120-1"
        ),
        unit="persons",
        count=569,
        notes=(
            "Table 3 gives inputs of 200 to 468 days and 569 series, but no rule: five cutoffs, 67 "
            "days apart, are this package's. The file is the final one of March 2023, in which "
            "earlier days were corrected."
        ),
    ),
    Source(
        name="cphl",
        title="CPHL",
        domain="Nature",
        url=_TIME_PAGE,
        origin=_TIME,
        format="arrow",
        parts=(
            _saved("CPHL/15T", "15min", 96, TestSpan(1440, (12, 96, 288)), name="15T"),
            _saved("CPHL/30T", "30min", 48, TestSpan(1440, (12, 48, 144)), name="30T"),
            _saved("CPHL/H", "h", 24, TestSpan(672, (24, 168, 336)), name="H"),
        ),
        licence=f"{_TIME_LICENCE}; the moorings' records CC BY 4.0 (IMOS)",
        redistributable=True,
        citation=f"Integrated Marine Observing System (IMOS); {_TIME_CITATION}",
        unit="mg/m³",
        count=494,
        notes="",
    ),
    Source(
        name="cpsc2019",
        title="CPSC2019",
        domain="Medical",
        url="http://2019.icbeb.org/Challenge.html",
        origin=Web(pattern="https://www.dropbox.com/s/75nee0pqdy3f9r2/{path}?dl=1"),
        format="cpsc2019",
        parts=(
            Part(
                name="all",
                path="CPSC2019-train.zip",
                freq="10ms",
                season_length=None,
                rule=_ECG_WINDOWS,
            ),
        ),
        licence="none stated",
        redistributable=False,
        citation=(
            "Gao et al. (2019). An open-access ECG database for algorithm evaluation of QRS "
            "detection and heart rate estimation. J Med Imaging Health Inform 9(9), 1853-1858. "
            "doi:10.1166/jmihi.2019.2800"
        ),
        unit="mV",
        count=299,
        notes=(
            f"{_ECG_NOTES} The challenge's page has no direct address; the archive is the copy "
            "that torch_ecg downloads, and no hash of it is published. In `data_dir`, any zip "
            "archive of this name with files data_NNNNN.mat will do."
        ),
    ),
    Source(
        name="crypto",
        title="Crypto",
        domain="Finance",
        url=_TIME_PAGE,
        origin=_TIME,
        format="arrow",
        parts=(_saved("Crypto/D", "D", None, TestSpan(273, (30,))),),
        licence=_TIME_LICENCE,
        redistributable=True,
        citation=_TIME_CITATION,
        unit="USD",
        count=29,
        notes=(
            "The series at the origin were replaced in May 2026, so that values may differ from "
            "the paper's. Of 36 windows the paper keeps 29 and does not say which."
        ),
    ),
    Source(
        name="current_velocity",
        title="Current Velocity",
        domain="Nature",
        url=_TIME_PAGE,
        origin=_TIME,
        format="arrow",
        parts=(
            _saved("current_velocity/5T", "5min", 149, TestSpan(4320, (36, 288)), name="5T"),
            _saved("current_velocity/10T", "10min", 75, TestSpan(2160, (18, 144, 432)), name="10T"),
            _saved("current_velocity/15T", "15min", 50, TestSpan(1440, (12, 96, 288)), name="15T"),
            _saved("current_velocity/20T", "20min", 37, TestSpan(1080, (9, 72, 216)), name="20T"),
            _saved("current_velocity/H", "h", 12, TestSpan(672, (24, 168, 336)), name="H"),
        ),
        licence=f"{_TIME_LICENCE}; the moorings' records CC BY 4.0 (IMOS)",
        redistributable=True,
        citation=f"Integrated Marine Observing System (IMOS); {_TIME_CITATION}",
        unit=None,
        count=500,
        notes=(
            "Velocity (m/s), temperature (°C), pressure (dbar) or sound speed (m/s). The horizon "
            "of 864 steps in TIME is left out, as Table 3's longest is 432. The season is the "
            "12.42 h of the tide, rounded to a step."
        ),
    ),
    Source(
        name="fnspid",
        title="FNSPID",
        domain="Finance",
        url="https://huggingface.co/datasets/Zihan1004/FNSPID",
        origin=Hub(repo_id="Zihan1004/FNSPID", revision="bf9189c41527198897d1af3e17b1a0095279fc45"),
        format="fnspid",
        parts=(
            Part(
                name="all",
                path="Stock_price/full_history.zip",
                freq="B",
                season_length=None,
                rule=Blocks(42, 7, stride=49),
            ),
        ),
        licence="CC BY-NC 4.0",
        redistributable=False,
        citation=(
            "Dong, Fan, Peng (2024). FNSPID: A comprehensive financial news dataset in time "
            "series. KDD. arXiv:2402.06698"
        ),
        unit="USD",
        count=500,
        notes=(
            "Table 3 gives 42 days, 7 days and 500 series, but neither column nor choice: closing "
            "prices, cut into blocks of 49 trading days side by side, are this package's. Whether "
            "the vendor's prices may be published again is not settled by the licence."
        ),
        hashes={
            "Stock_price/full_history.zip": (
                "03da4fce7ebea90d5715ba3501773d410ae663b617027b338ef000a9955dab91"
            )
        },
    ),
    Source(
        name="loop_seattle",
        title="Loop Seattle",
        domain="Transportation",
        url=_GIFT_PAGE,
        origin=_GIFT,
        format="arrow",
        parts=(
            _saved("LOOP_SEATTLE/H", "h", 24, Rolling((48, 480), keep=(2,)), name="H"),
            _saved("LOOP_SEATTLE/5T", "5min", 288, Rolling((48, 480), keep=(2,)), name="5T"),
        ),
        licence="none stated; for research only (github.com/zhiyongc/Seattle-Loop-Data)",
        redistributable=False,
        citation=(
            "Cui et al. (2020). Traffic graph convolutional recurrent neural network. IEEE T-ITS "
            f"21(11). doi:10.1109/TITS.2019.2950416; {_GIFT_CITATION}"
        ),
        unit="mph",
        count=400,
        notes=(
            "The third window of each series alone gives the input lengths of Table 3, which does "
            "not name it; the horizon of 480 has but two windows where the step is an hour."
        ),
    ),
    Source(
        name="ptb",
        title="PTB",
        domain="Medical",
        url="https://physionet.org/content/ptbdb/1.0.0/",
        origin=Web(pattern="https://physionet.org/files/ptbdb/1.0.0/{path}", sums="SHA256SUMS.txt"),
        format="wfdb",
        parts=(
            Part(
                name="all",
                path="patient*/*.hea",
                freq="10ms",
                season_length=None,
                rule=_ECG_WINDOWS,
            ),
        ),
        licence="ODC-BY 1.0",
        redistributable=True,
        citation=(
            "Bousseljot, Kreiseler, Schnabel (1995). Nutzung der EKG-Signaldatenbank CARDIODAT der "
            f"PTB über das Internet. Biomed Tech 40, S317. doi:10.13026/C28C71; {_PHYSIONET}"
        ),
        unit="mV",
        count=300,
        notes=f"{_ECG_NOTES} The twelve standard leads; the signal files lie beside the headers.",
    ),
    Source(
        name="rdbh",
        title="RDBH",
        domain="Medical",
        url="https://physionet.org/content/challenge-2014/1.0.0/",
        origin=Web(
            pattern="https://physionet.org/files/challenge-2014/1.0.0/{path}", sums="SHA256SUMS.txt"
        ),
        format="wfdb",
        parts=(
            Part(
                name="all",
                path="set-p*/*.hea",
                freq="10ms",
                season_length=None,
                rule=_ECG_WINDOWS,
            ),
        ),
        licence="ODC-BY 1.0",
        redistributable=True,
        citation=(
            "Moody, Moody, Silva (2014). Robust detection of heart beats in multimodal data: The "
            f"PhysioNet/Computing in Cardiology Challenge 2014. CinC 41, 549-552; {_PHYSIONET}"
        ),
        unit="mV",
        count=300,
        notes=(
            f"{_ECG_NOTES} The electrocardiograms of both published sets; other signals of the "
            "records are passed over. The signal files lie beside the headers."
        ),
    ),
    Source(
        name="solar",
        title="Solar",
        domain="Energy",
        url=_GIFT_PAGE,
        origin=_GIFT,
        format="arrow",
        parts=(_saved("solar/H", "h", 24, Rolling((48,), keep=tuple(range(10, 19)))),),
        licence="public, with attribution to NREL",
        redistributable=True,
        citation=f"Lai et al. (2018). LSTNet. SIGIR. arXiv:1703.07015; {_GIFT_CITATION}",
        unit="MW",
        count=400,
        notes=(
            "The last nine of GIFT-Eval's windows give the input lengths of Table 3, which does "
            "not say which are used."
        ),
    ),
    Source(
        name="supply_chain_customer",
        title="Supply Chain Customer",
        domain="Sales",
        url=_TIME_PAGE,
        origin=_TIME,
        format="arrow",
        parts=(_saved("Supply_Chain_Customer/D", "D", 7, TestSpan(365, (30,))),),
        licence=_TIME_LICENCE,
        redistributable=True,
        citation=_TIME_CITATION,
        unit=None,
        count=424,
        notes="Simulated; the unit is not stated at the origin.",
    ),
)

_SOURCES = {entry.name: entry for entry in _ENTRIES}
