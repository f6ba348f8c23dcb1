"use strict";
(() => {
  // An undefined value stays at the end in both directions.
  const compare = (a, b, sign) => {
    if (typeof a === "string") return sign * a.localeCompare(b, undefined, { numeric: true });
    return (isNaN(a) - isNaN(b)) || (isNaN(a) ? 0 : sign * (a - b));
  };

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

  const readCase = (element) => {
    const rows = [...element.querySelectorAll("tr[data-dimension]")];
    const scores = { "": parseFloat(element.dataset.score) };
    rows.forEach(({ dataset }) => {
      if (dataset.status === "ok") scores[dataset.dimension] = parseFloat(dataset.score);
    });
    return {
      element,
      scores,
      statuses: rows.map((row) => row.dataset.status),
      model: element.dataset.model,
      series: element.dataset.series,
      mase: parseFloat(element.dataset.mase),
      breaches: Number(element.dataset.breaches),
      position: Number(element.dataset.position),
      text: "",
    };
  };

  const fits = (entry, wanted) => {
    if (wanted.model && entry.model !== wanted.model) return false;
    if (wanted.breaches && !entry.breaches) return false;
    if (wanted.most && !(entry.scores[wanted.dimension] <= Number(wanted.most))) return false;
    if (wanted.status === "ok" && entry.statuses.some((status) => status !== "ok")) return false;
    if (wanted.status === "failed" && entry.statuses.every((status) => status === "ok")) return false;
    if (wanted.status.startsWith("is:") && !entry.statuses.includes(wanted.status.slice(3))) return false;
    if (!wanted.text) return true;
    entry.text ||= entry.element.textContent.toLowerCase();
    return wanted.text.split(/\s+/).every((word) => entry.text.includes(word));
  };

  const orders = {
    worst: (dimension) => (a, b) => compare(score(a, dimension), score(b, dimension), 1),
    best: (dimension) => (a, b) => compare(score(a, dimension), score(b, dimension), -1),
    mase: () => (a, b) => compare(a.mase, b.mase, -1),
    series: () => (a, b) => compare(a.series, b.series, 1) || compare(a.model, b.model, 1),
    run: () => (a, b) => a.position - b.position,
  };
  const score = (entry, dimension) => entry.scores[dimension] ?? NaN;

  const filteredCases = (form, list) => {
    const entries = [...list.querySelectorAll(".case")].map(readCase);
    const count = form.querySelector(".count");
    const empty = document.querySelector(".empty");
    let sorted = "worst ";

    const apply = () => {
      const wanted = Object.fromEntries(new FormData(form));
      wanted.text = wanted.text.trim().toLowerCase();
      const order = `${wanted.order} ${wanted.dimension}`;
      if (order !== sorted) {
        const ranked = entries.slice().sort(orders[wanted.order](wanted.dimension));
        list.append(...ranked.map((entry) => entry.element));
        sorted = order;
      }
      let shown = 0;
      entries.forEach((entry) => {
        entry.element.hidden = !fits(entry, wanted);
        shown += !entry.element.hidden;
      });
      count.textContent = `${shown.toLocaleString("en")} of ${entries.length.toLocaleString("en")} cases`;
      empty.hidden = shown > 0;
    };

    // A link to a case must lead there, whatever was chosen before.
    const reveal = () => {
      const target = document.getElementById(location.hash.slice(1));
      if (!target || !target.hidden) return;
      form.reset();
      apply();
      target.scrollIntoView();
      // Cases above get their true height only when they come near the window.
      requestAnimationFrame(() => requestAnimationFrame(() => target.scrollIntoView()));
    };

    let waiting = 0;
    form.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(apply, 80);
    });
    form.addEventListener("reset", () => setTimeout(apply));
    form.addEventListener("submit", (event) => event.preventDefault());
    window.addEventListener("hashchange", reveal);
    form.reset();
    form.hidden = false;
  };

  document.querySelectorAll("table.models").forEach(sortableTable);
  filteredCases(document.querySelector(".filters"), document.querySelector(".cases"));
})();
