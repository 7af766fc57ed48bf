"use strict";
(function () {
  const page = JSON.parse(document.getElementById("figures").textContent);
  const options = { actions: { export: true, source: false, compiled: false, editor: false }, renderer: "svg", config: page.config };

  // Every quantitative y that starts at zero can be shown logarithmically: zero and below have no place there.
  function scaled(spec) {
    const copy = JSON.parse(JSON.stringify(spec));
    (function walk(node) {
      if (node === null || typeof node !== "object") return;
      const y = node.encoding && node.encoding.y;
      if (y && y.scale && y.scale.zero === true) y.scale = { type: "log", nice: true };
      Object.values(node).forEach(walk);
    })(copy);
    return copy;
  }

  async function draw(type) {
    for (const place of document.querySelectorAll("[data-figure]")) {
      const spec = page.specs[place.dataset.figure];
      try {
        await window.vegaEmbed(place, type === "log" ? scaled(spec) : spec, options);
      } catch (error) {
        place.dataset.failed = "";
        place.textContent = "This chart could not be drawn: " + error.message;
      }
    }
    document.documentElement.dataset.drawn = type;
  }

  function sortBy(table, column, header) {
    const rising = header.getAttribute("aria-sort") !== "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", rising ? "ascending" : "descending");
    const key = (row) => row.cells[column].dataset.sort ?? row.cells[column].textContent;
    const order = (a, b) => {
      const [x, y] = [key(a), key(b)], [p, q] = [parseFloat(x), parseFloat(y)];
      const found = Number.isNaN(p) || Number.isNaN(q) ? x.localeCompare(y, "en", { numeric: true }) : p - q;
      return rising ? found : -found;
    };
    table.tBodies[0].append(...[...table.tBodies[0].rows].sort(order));
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((header, column) => {
      // A real button would be left out where a printed table repeats its head on the next page.
      const button = document.createElement("span");
      button.setAttribute("role", "button");
      button.tabIndex = 0;
      button.append(...header.childNodes);
      header.append(button);
      button.addEventListener("click", () => sortBy(table, column, header));
      button.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        sortBy(table, column, header);
      });
    });
  }
  for (const filter of document.querySelectorAll("input[data-filters]")) {
    const rows = [...document.getElementById(filter.dataset.filters).tBodies[0].rows];
    const texts = rows.map((row) => row.textContent.toLowerCase());
    filter.addEventListener("input", () => {
      const words = filter.value.toLowerCase().split(/\s+/);
      rows.forEach((row, index) => { row.hidden = !words.every((word) => texts[index].includes(word)); });
    });
  }
  for (const button of document.querySelectorAll("button[data-scale]")) {
    button.addEventListener("click", () => {
      document.querySelectorAll("button[data-scale]").forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
      draw(button.dataset.scale);
    });
  }
  // Paper has nothing to click on.
  window.addEventListener("beforeprint", () => document.querySelectorAll("main details").forEach((more) => { more.open = true; }));
  for (const tools of document.querySelectorAll(".tools[hidden]")) tools.hidden = false;
  if (window.vegaEmbed) draw("linear");
})();
