"use strict";
(() => {
  const STEP = 50; // cases that are put into the list at once
  const collator = new Intl.Collator(undefined, { numeric: true });

  // An undefined value stays at the end in both directions.
  const compare = (a, b, sign) => {
    if (typeof a === "string") return sign * collator.compare(a, b);
    return (isNaN(a) - isNaN(b)) || (isNaN(a) ? 0 : sign * (a - b));
  };
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const words = (name) => name.replaceAll("_", " ");
  const said = (count) => count.toLocaleString("en");

  const sortableTable = (table) => {
    const headers = [...table.tHead.rows[0].cells];
    const body = table.tBodies[0];
    const sortBy = (header) => {
      const column = headers.indexOf(header);
      const numeric = header.dataset.sort === "number";
      const first = header.dataset.first || "ascending";
      const other = first === "ascending" ? "descending" : "ascending";
      const order = header.getAttribute("aria-sort") === first ? other : first;
      const sign = order === "ascending" ? 1 : -1;
      const value = (row) => {
        const raw = row.cells[column].dataset.value;
        return numeric ? parseFloat(raw) : raw;
      };
      headers.forEach((cell) => cell.removeAttribute("aria-sort"));
      header.setAttribute("aria-sort", order);
      body.append(...[...body.rows].sort((a, b) => compare(value(a), value(b), sign)));
    };
    headers.forEach((header) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...header.childNodes);
      button.addEventListener("click", () => sortBy(header));
      header.append(button);
    });
  };

  // The rows of all cases: JSON, deflated, in base64, worst case first.

  const unpack = async (element) => {
    const text = atob(element.textContent);
    const bytes = Uint8Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).json();
  };

  const packed = (kind) => document.querySelectorAll(`script[data-packed="${kind}"]`);

  const readRows = async () => {
    const head = await unpack(packed("head")[0]);
    head.sheets = head.sheets.map(([asked, errors]) => ({
      asked: asked.map(([dimension, judge, run]) => ({ dimension, judge, run })),
      errors,
      known: new Map(),
    }));
    const sample = await unpack(packed("sample")[0]);
    const sampled = new Map();
    sample.position.forEach((position, at) => {
      sampled.set(position, { ...readRow(head, sample, at), ...readReasons(sample, at), sampled: true });
    });
    const rows = [];
    for (const element of packed("rows")) {
      const part = await unpack(element);
      part.position.forEach((position, at) => {
        rows.push(sampled.get(position) || readRow(head, part, at));
        sampled.delete(position);
      });
    }
    let next = 0;
    for (const element of packed("reasons")) {
      const part = await unpack(element);
      part.reasons.forEach((_, at) => Object.assign(rows[next++], readReasons(part, at)));
    }
    return rows.concat(...sampled.values());
  };

  const readRow = (head, part, at) => {
    const sheet = head.sheets[part.sheet[at]];
    return {
      sheet,
      position: part.position[at],
      series: part.series[at],
      cutoff: part.cutoff[at],
      model: head.models[part.model[at]],
      results: readOutcomes(sheet, part.outcomes[at], head.statuses),
      errors: part.errors[at],
      broken: part.broken[at],
      plot: part.plot[at],
    };
  };

  const readReasons = ({ reasons, expected, breaches }, at) =>
    ({ reasons: reasons[at], expected: expected[at], breaches: breaches[at] });

  // A digit is a score, a letter a failure; few combinations are shared by many cases.
  const readOutcomes = (sheet, text, names) => {
    if (!sheet.known.has(text)) sheet.known.set(text, outcomes(sheet, text, names));
    return sheet.known.get(text);
  };

  const outcomes = (sheet, text, names) => {
    const all = [...text].map((sign) => (sign > "9" ? names[sign.charCodeAt(0) - 97] : Number(sign)));
    const repeats = new Map(sheet.asked.map(({ dimension }) => [dimension, []]));
    all.forEach((result, at) => {
      if (typeof result === "number") repeats.get(sheet.asked[at].dimension).push(result);
    });
    const scores = new Map([...repeats].map(([name, found]) => [name, mean(found)]));
    const overall = mean([...scores.values()].filter((score) => !isNaN(score)));
    return { all, scores, overall, failed: all.filter((result) => typeof result === "string") };
  };

  const score = (row, dimension) =>
    dimension ? row.results.scores.get(dimension) ?? NaN : row.results.overall;

  const measured = (row, name) => {
    const at = row.sheet.errors.indexOf(name);
    return at < 0 ? NaN : parseFloat(row.errors[at].replaceAll(",", ""));
  };

  const text = (row) => {
    row.text ??= [
      row.series, row.cutoff, row.model, ...row.results.failed,
      ...(row.reasons || []), ...(row.breaches || []),
    ].join("\n").toLowerCase();
    return row.text;
  };

  const anchor = (row) =>
    ["case", ...[row.series, row.cutoff || "", row.model].map(encodeURIComponent)].join("/");

  // A case as the page's own markup has those that it opens with.

  const make = (tag, given, ...children) => {
    const element = Object.assign(document.createElement(tag), given);
    element.append(...children);
    return element;
  };
  const bdi = (content) => make("bdi", {}, content);
  const none = (content, title = "") => make("span", { className: "none", title }, content);

  const chip = (value, { title = "", whole = true } = {}) => {
    if (isNaN(value)) return none("–", "no judgment holds a score");
    const level = Math.min(5, Math.max(1, Math.floor(value + 0.5)));
    const written = whole && Number.isInteger(value) ? String(value) : value.toFixed(2);
    return make("span", { className: `chip s${level}`, title }, written);
  };

  const summary = (row) => {
    const cutoff = make("span", { className: "cutoff" }, "cutoff ", bdi(row.cutoff));
    const link = make("a", { className: "anchor", href: `#${anchor(row)}`, ariaLabel: "Link to this case" }, "#");
    const aspects = [...row.results.scores].map(([name, found]) =>
      make("span", {}, `${words(name)} `, chip(found)));
    return make("summary", {},
      make("h3", {}, bdi(row.series), ...(row.cutoff ? [" ", cutoff] : []), " ", link), "\n",
      make("span", { className: "model" }, bdi(row.model)), "\n",
      make("span", { className: "aspects" }, ...aspects), "\n",
      make("span", { className: "total" },
        make("span", {}, "Overall"), " ", chip(row.results.overall, { whole: false })));
  };

  const plot = (row) => {
    const missing = (text) => make("p", { className: "none" }, text);
    if (!row.plot) return missing("The plot of this case was not drawn; --plots all draws every one.");
    const alt = `History, truth and the forecast of ${row.model} for series ${row.series}`;
    const image = make("img", { loading: "lazy", alt, src: row.plot });
    const figure = make("figure", { className: "plot" }, image);
    const other = document.querySelector(".plot img[width]");
    ["width", "height"].forEach((name) => other && image.setAttribute(name, other.getAttribute(name)));
    image.addEventListener("error", () => figure.replaceWith(missing(
      `There is no ${row.plot} beside this page: keep the page in the folder of its run.`)));
    return figure;
  };

  const judgment = (row, at) => {
    const { dimension, judge, run } = row.sheet.asked[at];
    const panel = row.sheet.asked.some((one) => one.judge !== judge || one.run > 0);
    const asked = make("th", { scope: "row" }, words(dimension));
    if (panel) asked.append(make("br"), make("small", {}, bdi(judge), `, run ${run + 1}`));
    const result = row.results.all[at];
    const why = row.reasons ? bdi(row.reasons[at]) : none("left out of this page; see judgments.parquet");
    if (typeof result === "number") {
      const expected = row.expected?.[at];
      const title = expected ? `before rounding: ${expected}` : "";
      return make("tr", {}, asked, make("td", {}, chip(result, { title })), make("td", {}, why));
    }
    if (row.reasons && !row.reasons[at]) why.textContent = "no reason was given";
    return make("tr", { className: "failed" }, asked,
      make("td", {}, make("span", { className: "status" }, result)),
      make("td", {}, make("strong", {}, "No score:"), " ", why));
  };

  const judgments = (row) => {
    const heads = ["Dimension", "Score", "Why"].map((name) => make("th", { scope: "col" }, name));
    const lines = row.sheet.asked.map((_, at) => judgment(row, at));
    const empty = make("td", { className: "none", colSpan: 3 }, "No judgment was asked for.");
    return make("table", { className: "judgments" },
      make("thead", {}, make("tr", {}, ...heads)),
      make("tbody", {}, ...(lines.length ? lines : [make("tr", {}, empty)])));
  };

  const breaches = (row) => {
    const named = row.breaches?.map(bdi) ?? [none(`${row.broken}; see judgments.parquet`)];
    return make("div", { className: "breaches" }, make("h4", {}, "Hard constraints broken"),
      make("ul", {}, ...named.map((one) => make("li", {}, one))));
  };

  const errors = (row) => {
    const entries = row.sheet.errors.map((name, at) => {
      const value = row.errors[at];
      const shown = value === "–" ? none(value, "not defined for this case") : value;
      return make("div", {}, make("dt", {}, name.toUpperCase()), make("dd", {}, shown));
    });
    return make("dl", { className: "errors" }, ...entries);
  };

  const card = (row) => {
    const element = make("details", { className: "case", id: anchor(row) }, summary(row));
    const fill = () => element.append(plot(row), judgments(row),
      ...(row.broken ? [breaches(row)] : []), ...(row.errors.length ? [errors(row)] : []));
    element.addEventListener("toggle", fill, { once: true });
    return element;
  };

  // The list: chosen, sorted, and shown a few at a time.

  // Comparing words is slow: each is placed once.
  const places = (rows, name) => {
    const sorted = [...new Set(rows.map((row) => row[name]))].sort(collator.compare);
    return new Map(sorted.map((word, at) => [word, at]));
  };

  const orders = {
    worst: (dimension) => (a, b) => compare(score(a, dimension), score(b, dimension), 1),
    best: (dimension) => (a, b) => compare(score(a, dimension), score(b, dimension), -1),
    mase: () => (a, b) => compare(measured(a, "mase"), measured(b, "mase"), -1),
    series: (_, rows) => {
      const [series, models] = ["series", "model"].map((name) => places(rows, name));
      rows.forEach((row) => {
        row.place = series.get(row.series) * models.size + models.get(row.model);
      });
      return (a, b) => a.place - b.place;
    },
    run: () => (a, b) => a.position - b.position,
  };

  const fits = (row, wanted) => {
    const { failed, all } = row.results;
    if (wanted.model && row.model !== wanted.model) return false;
    if (wanted.breaches && !row.broken) return false;
    if (wanted.most && !(score(row, wanted.dimension) <= Number(wanted.most))) return false;
    if (wanted.status === "ok" && failed.length) return false;
    if (wanted.status === "failed" && !failed.length) return false;
    if (wanted.status.startsWith("is:") && !failed.includes(wanted.status.slice(3))) return false;
    if (wanted.kind === "sample" && !row.sampled) return false;
    if (wanted.kind === "plot" && !row.drawn && !row.plot) return false;
    return wanted.words.every((word) => text(row).includes(word));
  };

  const filteredCases = (form, list, rows) => {
    const given = new Map([...list.querySelectorAll(".case")].map((e) => [e.dataset.position, e]));
    rows.forEach((row) => {
      row.element = given.get(String(row.position));
      row.drawn = Boolean(row.element?.querySelector(".plot"));
    });
    const count = form.querySelector(".count");
    const empty = document.querySelector(".empty");
    const more = document.querySelector(".more");
    const ranked = new Map([["worst ", rows]]);
    let found = rows;
    let shown = 0;

    const rank = (order, dimension) => {
      const name = `${order} ${dimension}`;
      if (!ranked.has(name)) ranked.set(name, rows.slice().sort(orders[order](dimension, rows)));
      return ranked.get(name);
    };

    const extend = () => {
      const next = found.slice(shown, shown + STEP);
      list.append(...next.map((row) => (row.element ??= card(row))));
      shown += next.length;
      more.hidden = shown === found.length;
      more.firstElementChild.textContent =
        `Show ${said(Math.min(STEP, found.length - shown))} more of ${said(found.length - shown)}`;
      return next[0]?.element;
    };

    const show = (chosen) => {
      found = chosen;
      shown = 0;
      list.replaceChildren();
      extend();
      count.textContent = `${said(found.length)} of ${said(rows.length)} cases`;
      empty.hidden = found.length > 0;
    };

    const apply = () => {
      const wanted = { kind: "", ...Object.fromEntries(new FormData(form)) };
      wanted.words = wanted.text.toLowerCase().split(/\s+/).filter(Boolean);
      show(rank(wanted.order, wanted.dimension).filter((row) => fits(row, wanted)));
    };

    // A link to a case must lead there, whatever was chosen before.
    const reveal = () => {
      const name = location.hash.slice(1);
      const row = name.startsWith("case/") && rows.find((one) => anchor(one) === name);
      if (!row) return;
      if (!row.element?.isConnected) {
        form.reset();
        show([row, ...rows.filter((one) => one !== row)]);
      }
      list.querySelector(".linked")?.classList.remove("linked");
      row.element.classList.add("linked");
      row.element.open = true;
      row.element.scrollIntoView();
      // Cases above get their true height only when they come near the window.
      requestAnimationFrame(() => requestAnimationFrame(() => row.element.scrollIntoView()));
    };

    let waiting = 0;
    form.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(apply, 80);
    });
    form.querySelector("button[type=reset]").addEventListener("click", () => setTimeout(apply));
    form.addEventListener("submit", (event) => event.preventDefault());
    more.addEventListener("click", () => extend()?.firstElementChild.focus());
    window.addEventListener("hashchange", reveal);
    form.reset();
    form.hidden = false;
    apply();
    reveal();
  };

  const listCases = async () => {
    const [form, list, reading, unread] = [".filters", ".cases", ".reading", ".unread"]
      .map((name) => document.querySelector(name));
    reading.hidden = false;
    try {
      filteredCases(form, list, await readRows());
    } catch (error) {
      console.error(error);
      unread.hidden = false;
    }
    reading.hidden = true;
  };

  document.querySelectorAll("table.models").forEach(sortableTable);
  listCases();
})();
