// Sorting, the cut-off and the table of contents. The page is complete without it: this only changes numbers, orders and marks.
// Nothing here handles text from the data.
"use strict";

(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const byId = (id) => document.getElementById(id);

  // ---- tables that can be sorted -------------------------------------------------------------------------------------
  const keyOf = (row, column, isNumber) => {
    const value = row.cells[column]?.dataset.value; // a cell that spans the rest of its row has none
    return value === undefined ? null : isNumber ? Number(value) : value.toLowerCase();
  };

  const compare = (a, b) => (typeof a === "number" ? a - b : a.localeCompare(b));

  const sortTable = (table, head, column) => {
    const isNumber = head.dataset.sort === "number";
    const current = head.getAttribute("aria-sort");
    const direction = current ? (current === "ascending" ? "descending" : "ascending") : isNumber ? "descending" : "ascending";
    const sign = direction === "ascending" ? 1 : -1;
    const rows = Array.from(table.tBodies[0].rows, (row) => [keyOf(row, column, isNumber), row]);
    // Rows without a value stay last either way; the sort is stable.
    rows.sort(([a], [b]) => (a === null || b === null ? (a === null) - (b === null) : sign * compare(a, b)));
    for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", direction);
    table.tBodies[0].append(...rows.map(([, row]) => row));
  };

  for (const table of document.querySelectorAll("table[data-sortable]")) {
    Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
      if (!head.dataset.sort) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sortTable(table, head, column));
      head.append(button);
    });
  }

  // ---- the cut-off ---------------------------------------------------------------------------------------------------
  const share = (part, whole) => (whole > 0 ? part / whole : null);

  // The formulas of `from_counts` in counts.py.
  const measuresAt = (tp, fp, tn, fn, beta, alpha) => {
    const recall = share(tp, tp + fn);
    const specificity = share(tn, tn + fp);
    const both = recall !== null && specificity !== null;
    const squared = beta * beta;
    return {
      accuracy: share(tp + tn, tp + fp + tn + fn),
      precision: share(tp, tp + fp),
      recall,
      specificity,
      npv: share(tn, tn + fn),
      f_beta: share((1 + squared) * tp, (1 + squared) * tp + squared * fn + fp),
      g_mean: both ? Math.sqrt(recall * specificity) : null,
      cwa: both ? alpha * recall + (1 - alpha) * specificity : null,
    };
  };

  const percent = (part, whole) => {
    if (!(whole > 0)) return "–";
    const value = part / whole;
    return value > 0 && value < 0.001 ? "<\u00a00.1\u00a0%" : `${(100 * value).toFixed(value === 0 || value === 1 ? 0 : 1)}\u00a0%`;
  };

  const moveMark = (chart, x, y) => {
    if (!chart) return;
    const { left, right, top, bottom } = chart.dataset;
    const mark = chart.querySelector(".mark");
    mark.setAttribute("cx", Number(left) + x * (right - left));
    mark.setAttribute("cy", Number(bottom) - y * (bottom - top));
  };

  const moveLine = (line, value) => {
    const { left, right, low, high } = line.closest("svg").dataset;
    const inside = Math.min(Math.max((value - low) / (high - low || 1), 0), 1);
    for (const end of ["x1", "x2"]) line.setAttribute(end, Number(left) + inside * (right - left));
  };

  const settingOf = (input, fallback) => (input.value !== "" && input.checkValidity() ? Number(input.value) : fallback);

  const startCutoff = (data) => {
    const slider = byId("cut");
    const beta = byId("beta");
    const alpha = byId("alpha");
    const last = data.threshold.length - 1;

    const showCell = (id, value, total) => {
      const cell = byId(id);
      cell.textContent = value.toLocaleString("en-US");
      byId(`${id}-share`).textContent = percent(value, total);
      const holder = cell.parentNode;
      const heat = total > 0 ? Math.round((10 * value) / total) || Number(value > 0) : 0;
      holder.className = `${holder.className.split(" ")[0]} heat-${heat}`;
    };

    const update = () => {
      const at = Number(slider.value);
      const tp = data.tp[at];
      const fp = data.fp[at];
      const fn = data.positive - tp;
      const tn = data.negative - fp;
      const threshold = data.threshold[at];
      const shown = at === last ? "above all" : Math.abs(threshold) < 1e-4 && threshold !== 0 ? threshold.toExponential(2) : threshold.toFixed(4);
      byId("cut-value").textContent = shown;
      byId("cut-still").textContent = shown;
      byId("cut-own").hidden = at !== data.own;
      byId("beta-still").textContent = String(settingOf(beta, 1));
      byId("alpha-still").textContent = String(settingOf(alpha, 0.5));
      slider.setAttribute("aria-valuetext", shown);
      showCell("tp", tp, data.positive);
      showCell("fn", fn, data.positive);
      showCell("tn", tn, data.negative);
      showCell("fp", fp, data.negative);
      const found = measuresAt(tp, fp, tn, fn, settingOf(beta, 1), settingOf(alpha, 0.5));
      for (const [name, value] of Object.entries(found)) {
        const output = byId(`m-${name}`);
        output.textContent = value === null ? "–" : value.toFixed(3);
        output.dataset.value = value === null ? "" : String(value);
      }
      const recall = found.recall === null ? 0 : found.recall;
      moveMark(byId("roc"), data.negative > 0 ? fp / data.negative : 0, recall);
      moveMark(byId("pr"), recall, found.precision === null ? 1 : found.precision);
      for (const line of document.querySelectorAll(".mark-line")) moveLine(line, threshold);
    };

    for (const input of [slider, beta, alpha]) input.addEventListener("input", update);
    for (const button of document.querySelectorAll("button[data-cut]")) {
      button.addEventListener("click", () => {
        slider.value = button.dataset.cut;
        update();
      });
    }
    update();
  };

  const holder = byId("cut-off-data");
  if (holder) startCutoff(JSON.parse(holder.textContent));

  // ---- where the reader is -------------------------------------------------------------------------------------------
  const links = new Map(Array.from(document.querySelectorAll(".toc a"), (link) => [link.hash.slice(1), link]));
  const isVisible = new Map();
  const watcher = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) isVisible.set(entry.target.id, entry.isIntersecting);
      const current = Array.from(links.keys()).find((id) => isVisible.get(id));
      for (const [id, link] of links) {
        if (id === current) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      }
    },
    { rootMargin: "-10% 0px -60% 0px" },
  );
  for (const id of links.keys()) watcher.observe(byId(id));

  // ---- paper: nothing stays folded, and heads are plain text, as a button is not repeated on the next page ---------------
  let undo = [];
  window.addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details:not([open])")) {
      details.open = true;
      undo.push(() => (details.open = false));
    }
    for (const button of document.querySelectorAll("th > button")) {
      const text = document.createElement("span");
      text.textContent = button.textContent;
      button.replaceWith(text);
      undo.push(() => text.replaceWith(button));
    }
  });
  window.addEventListener("afterprint", () => {
    for (const step of undo) step();
    undo = [];
  });
})();
