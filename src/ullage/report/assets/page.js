"use strict";
(function () {
  const byId = (id) => document.getElementById(id);
  const options = { actions: { export: true, source: false, compiled: false, editor: false }, renderer: "svg", ast: true };
  const MOST_ROWS = 20, MOST_FIGURES = 6, MOST_FINDINGS = 6, MOST_WIDER = 1.35, STEP = 200;

  async function unpacked(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
  }

  function element(name, text, css) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (css) made.className = css;
    return made;
  }

  // -- parts as tabs ---------------------------------------------------------------------------------------------------

  const links = [...document.querySelectorAll("nav.tabs a")];
  const panels = links.map((link) => byId(link.hash.slice(1)));
  const here = () => panels.find((panel) => !panel.classList.contains("folded"));

  function open(panel) {
    panels.forEach((other, index) => {
      other.classList.toggle("folded", other !== panel);
      links[index].setAttribute("aria-selected", String(other === panel));
      links[index].tabIndex = other === panel ? 0 : -1;
    });
    if (panel.id === "part-rows") table.begin();
    wake();
  }

  function follow(moves) {
    let target = null;
    try { target = byId(decodeURIComponent(location.hash.slice(1))); } catch { /* no name of ours */ }
    const panel = target && target.closest(".panel");
    if (!panel) return;
    open(panel);
    if (moves) (target === panel ? byId("parts") : target).scrollIntoView();
  }

  function tabs() {
    const bar = document.querySelector("nav.tabs");
    bar.setAttribute("role", "tablist");
    links.forEach((link, index) => {
      link.setAttribute("role", "tab");
      link.id = `tab-${index}`;
      link.setAttribute("aria-controls", panels[index].id);
      panels[index].setAttribute("role", "tabpanel");
      panels[index].setAttribute("aria-labelledby", link.id);
    });
    bar.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (event.key === " ") { event.preventDefault(); event.target.click(); }
      if (!step) return;
      event.preventDefault();
      const next = (links.indexOf(document.activeElement) + step + links.length) % links.length;
      links[next].click();
      links[next].focus();
    });
    window.addEventListener("hashchange", () => follow(true));
    open(panels[0]);
    follow(true);
  }

  // -- what is folded --------------------------------------------------------------------------------------------------

  function fold(box, items, most, noun) {
    if (items.length <= most + 1) return;
    box.classList.add("short");
    items.slice(most).forEach((item) => item.classList.add("beyond"));
    const button = element("button", `Show ${items.length - most} more ${noun}`, "more");
    button.type = "button";
    button.setAttribute("aria-expanded", "false");
    button.addEventListener("click", () => {
      const shut = box.classList.toggle("short");
      button.setAttribute("aria-expanded", String(!shut));
      button.textContent = shut ? `Show ${items.length - most} more ${noun}` : `Show fewer ${noun}`;
      wake();
    });
    (box.tagName === "TABLE" ? box.parentElement : box).after(button);
  }

  function folds() {
    for (const box of document.querySelectorAll("table.folds, table.sortable")) fold(box, [...box.tBodies[0].rows], MOST_ROWS, "rows");
    for (const box of document.querySelectorAll(".grid.folds")) fold(box, [...box.children], MOST_FIGURES, "charts");
    for (const box of document.querySelectorAll("ul.findings.folds")) fold(box, [...box.children], MOST_FINDINGS, "findings");
  }

  // -- charts: those in sight first, the others when there is time -----------------------------------------------------

  let scale = "linear", awake = false, drawing = false, library = null, figures = null;
  const places = [...document.querySelectorAll("[data-figure]")];
  const drawn = new Map();

  function specs() {
    figures ??= unpacked(byId("figures").textContent).then((text) => {
      const page = JSON.parse(text);
      options.config = { ...page.config, background: "transparent" };
      return page.specs;
    });
    return figures;
  }

  function load() {
    library ??= unpacked(byId("chart-library").textContent).then((text) => {
      const script = document.createElement("script");
      script.textContent = text;
      document.head.append(script);
    });
    return library;
  }

  function spread(node) {
    if (Array.isArray(node)) return node.map(spread);
    if (node === null || typeof node !== "object") return node;
    const found = {};
    for (const [key, value] of Object.entries(node)) found[key] = spread(value);
    const values = found.values;
    if (values && values.columns) found.values = values.rows.map((row) => Object.fromEntries(values.columns.map((name, index) => [name, row[index]])));
    return found;
  }

  // Every quantitative y that starts at zero can be shown logarithmically: zero and below have no place there.
  function logarithmic(node) {
    if (node === null || typeof node !== "object") return node;
    const y = node.encoding && node.encoding.y;
    if (y && y.scale && y.scale.zero === true) y.scale = { type: "log", nice: true };
    Object.values(node).forEach(logarithmic);
    return node;
  }

  function next() {
    const waiting = places.filter((place) => drawn.get(place) !== scale);
    const panel = here();
    const shown = waiting.filter((place) => panel && panel.contains(place) && place.offsetParent !== null);
    const top = shown.find((place) => place.getBoundingClientRect().bottom > 0);
    return top || shown[0] || waiting[0];
  }

  async function draw(place) {
    drawn.set(place, scale);
    const spec = spread((await specs())[place.dataset.figure]);
    try {
      await window.vegaEmbed(place, scale === "log" ? logarithmic(spec) : spec, options);
      const picture = place.querySelector("svg");
      if (picture) {
        picture.style.width = `${Math.round(MOST_WIDER * picture.width.baseVal.value)}px`;
        const said = place.closest("figure").querySelector("figcaption").textContent;
        picture.setAttribute("role", "img");
        picture.setAttribute("aria-label", said);
        for (const inner of picture.children) inner.setAttribute("aria-hidden", "true");
        place.querySelector("summary").setAttribute("aria-label", `Save the chart: ${said}`);
      }
    } catch (error) {
      place.dataset.failed = "";
      place.textContent = "This chart could not be drawn: " + error.message;
    }
  }

  const idle = (run) => (window.requestIdleCallback ? requestIdleCallback(run, { timeout: 200 }) : setTimeout(run, 10));

  async function wake() {
    if (!awake || drawing || !byId("chart-library").textContent || !window.DecompressionStream) return;
    drawing = true;
    await load();
    for (let place = next(); place; place = next()) {
      await draw(place);
      await new Promise((go) => (place.offsetParent === null ? idle(go) : setTimeout(go)));
    }
    drawing = false;
    document.documentElement.dataset.drawn = scale;
  }

  // The page is shown before its first chart is begun: chart library and charts take longer than all the rest.
  function begin() {
    if (byId("chart-library").textContent && window.DecompressionStream) {
      for (const text of document.querySelectorAll(".plot .fallback")) text.textContent = "The chart is being drawn.";
    }
    const start = () => { awake = true; wake(); };
    requestAnimationFrame(() => setTimeout(start));
    setTimeout(start, 1000);
  }

  function scales() {
    for (const button of document.querySelectorAll("button[data-scale]")) {
      button.addEventListener("click", () => {
        document.querySelectorAll("button[data-scale]").forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
        scale = button.dataset.scale;
        wake();
      });
    }
  }

  // -- the numbers behind a chart --------------------------------------------------------------------------------------

  function tables(node, fields, found) {
    if (node === null || typeof node !== "object") return found;
    const tip = node.encoding && node.encoding.tooltip;
    if (Array.isArray(tip)) tip.forEach((one) => one.field && fields.set(one.field, one.title || one.field));
    const values = node.data && node.data.values;
    if (Array.isArray(values) && values.length && typeof values[0] === "object") found.push(values);
    Object.values(node).forEach((inner) => tables(inner, fields, found));
    return found;
  }

  function numbers(spec) {
    const fields = new Map(), box = element("div");
    const found = tables(spread(spec), fields, []);
    for (const values of found) {
      let names = [...fields.keys()].filter((name) => values.some((one) => one[name] !== undefined));
      if (!names.length && found.length > 1) continue;
      if (!names.length) names = Object.keys(values[0]);
      const made = element("table", undefined, "folds"), head = made.createTHead().insertRow(), body = made.createTBody();
      for (const name of names) head.append(Object.assign(element("th", fields.get(name) || name), { scope: "col" }));
      for (const one of values) {
        const row = body.insertRow();
        for (const name of names) row.insertCell().textContent = one[name] ?? "–";
      }
      const wrap = element("div", undefined, "wrap tall");
      wrap.tabIndex = 0;
      wrap.append(made);
      box.append(wrap);
    }
    return box;
  }

  function behind() {
    for (const place of places) {
      const more = element("details", undefined, "numbers");
      more.append(element("summary", "The numbers of this chart"));
      more.addEventListener("toggle", async () => {
        if (!more.open || more.dataset.made !== undefined || printing) return;
        more.dataset.made = "";
        more.append(numbers((await specs())[place.dataset.figure]));
      });
      place.after(more);
    }
  }

  // -- sorting ---------------------------------------------------------------------------------------------------------

  function sortable(head, act) {
    [...head.cells].forEach((header, column) => {
      // A real button would be left out where a printed table repeats its head on the next page.
      const button = element("span");
      button.setAttribute("role", "button");
      button.tabIndex = 0;
      button.append(...header.childNodes);
      header.append(button);
      const run = () => {
        const rising = header.getAttribute("aria-sort") !== "ascending";
        for (const other of head.cells) other.removeAttribute("aria-sort");
        header.setAttribute("aria-sort", rising ? "ascending" : "descending");
        act(column, rising);
      };
      button.addEventListener("click", run);
      button.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        run();
      });
    });
  }

  function compared(x, y) {
    const [p, q] = [parseFloat(x), parseFloat(y)];
    return Number.isNaN(p) || Number.isNaN(q) ? String(x).localeCompare(String(y), "en", { numeric: true }) : p - q;
  }

  function small() {
    for (const one of document.querySelectorAll("table.sortable")) {
      sortable(one.tHead.rows[0], (column, rising) => {
        const key = (row) => row.cells[column].dataset.sort ?? row.cells[column].textContent;
        const order = (a, b) => (rising ? 1 : -1) * compared(key(a), key(b));
        one.tBodies[0].append(...[...one.tBodies[0].rows].sort(order));
      });
    }
  }

  // -- all rows: unpacked when they are looked at, drawn a few at a time ------------------------------------------------

  const table = (function () {
    const place = byId("rows-table"), columns = JSON.parse(byId("row-columns").textContent);
    const packs = [...document.querySelectorAll("script.row-pack")];
    const width = columns.length, count = Number(place.dataset.count);
    const keys = new Map();
    columns.forEach(([, isNumber], column) => { if (isNumber) keys.set(column, width + keys.size); });
    const at = (name) => columns.findIndex(([heading]) => heading === name);
    const fields = { part: at("part"), verdict: at("verdict"), flag: at("flags") };
    let rows = [], found = [], shown = 0, sorted = null, unpacking = Promise.resolve(), loaded = 0, begun = false;

    function take(many) {
      unpacking = unpacking.then(async () => {
        for (; loaded < Math.min(many, packs.length); loaded += 1) {
          const pack = JSON.parse(await unpacked(packs[loaded].textContent));
          for (const row of pack.rows) {
            row.push(row.slice(0, width).join(" ").toLowerCase());
            row[row.length - 2] = pack.reasons[row[row.length - 2]];
            rows.push(row);
          }
        }
      });
      return unpacking;
    }

    function matches(row, words, chosen) {
      if (chosen.part && row[fields.part] !== chosen.part) return false;
      if (chosen.verdict && row[fields.verdict].replace(/ \d+ %$/, "") !== chosen.verdict) return false;
      if (chosen.flag && !row[fields.flag].split(", ").some((one) => one.split(":")[0] === chosen.flag)) return false;
      return words.every((word) => row[row.length - 1].includes(word));
    }

    function line(row) {
      const made = document.createElement("tr");
      columns.forEach(([heading, isNumber], column) => {
        const cell = element("td", row[column], isNumber ? "num" : "");
        if (["median", "interval or range", "peer"].includes(heading)) cell.classList.add(heading.split(" ")[0]);
        if (heading === "verdict" && row[column] !== "none") {
          const kind = row[row.length - 3];
          cell.prepend(element("i", "", `dot ${kind === "sound" ? kind : "hollow " + kind}`));
          if (row[row.length - 2]) cell.title = row[row.length - 2];
        }
        made.append(cell);
      });
      return made;
    }

    function more(step) {
      const end = Math.min(found.length, shown + step);
      place.tBodies[0].append(...found.slice(shown, end).map(line));
      shown = end;
      const known = rows.length < count ? ` (of the first ${rows.length.toLocaleString("en")}, ${count.toLocaleString("en")} in all)` : "";
      byId("rows-count").textContent = `${shown.toLocaleString("en")} of ${found.length.toLocaleString("en")} rows shown${known}`;
      byId("rows-more").parentElement.hidden = shown === found.length && rows.length === count;
    }

    function refresh() {
      const words = byId("rows-search").value.toLowerCase().split(/\s+/).filter(Boolean);
      const chosen = { part: byId("rows-part").value, verdict: byId("rows-verdict").value, flag: byId("rows-flag").value };
      found = rows.filter((row) => matches(row, words, chosen));
      if (sorted) {
        const key = keys.get(sorted.column) ?? sorted.column;
        // What has no number stands last, whichever way it is sorted.
        const order = (a, b) => a[key] === null || b[key] === null ? (a[key] === null) - (b[key] === null) : (sorted.rising ? 1 : -1) * compared(a[key], b[key]);
        found.sort(order);
      }
      place.tBodies[0].replaceChildren();
      shown = 0;
      more(STEP);
    }

    // A search over some of the rows would not find what it is asked for: it takes them all.
    const all = async () => { await take(packs.length); refresh(); };

    async function begin() {
      if (begun || !packs.length || !window.DecompressionStream) return;
      begun = true;
      await take(1);
      refresh();
      place.dataset.ready = "";
    }

    function ready() {
      let wait = 0;
      byId("rows-search").addEventListener("input", () => { clearTimeout(wait); wait = setTimeout(all, 120); });
      for (const name of ["rows-part", "rows-verdict", "rows-flag"]) byId(name).addEventListener("change", all);
      byId("rows-more").addEventListener("click", async () => {
        if (shown === found.length && rows.length < count) { await take(loaded + 1); refresh(); }
        else more(STEP);
      });
      sortable(place.tHead.rows[0], (column, rising) => { sorted = { column, rising }; all(); });
    }

    return { begin, ready };
  })();

  // -- all together ----------------------------------------------------------------------------------------------------

  let printing = false;
  const opened = [];
  // Paper has nothing to click on.
  window.addEventListener("beforeprint", () => {
    printing = true;
    for (const more of document.querySelectorAll("main details:not(.numbers):not([open])")) { more.open = true; opened.push(more); }
  });
  window.addEventListener("afterprint", () => {
    printing = false;
    for (const more of opened.splice(0)) more.open = false;
  });
  for (const tools of document.querySelectorAll(".tools[hidden]")) tools.hidden = false;
  table.ready();
  small();
  folds();
  behind();
  scales();
  tabs();
  begin();
})();
