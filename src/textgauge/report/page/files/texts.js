// Texts: unpacked once, searched, filtered and sorted in memory; of the rows that match, the first ones are in the page.
(() => {
  const PART = 25;
  const COLOURS = ["--one", "--two", "--three", "--four", "--five"];

  function element(tag, text, name) {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (name) made.className = name;
    return made;
  }

  function format(value) {
    return value === null ? "–" : String(Number(value.toPrecision(3)));
  }

  // A text in pieces: a passage that stands elsewhere too, words that speak for its side, or words of one side alone.
  function marked(cell, text, passage, telling) {
    const start = passage ? text.indexOf(passage) : -1;
    if (start >= 0) {
      cell.append(text.slice(0, start), element("mark", passage), text.slice(start + passage.length));
    } else if (telling) {
      for (const piece of text.split(/([\p{L}\p{N}]+(?:['’][\p{L}\p{N}]+)*)/u)) {
        cell.append(telling(piece.toLowerCase()) ? element("mark", piece) : piece);
      }
    } else cell.append(text);
  }

  const words = (text) => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+(?:['’][\p{L}\p{N}]+)*/gu));

  function show(box, data) {
    const { pool, texts, tags, choices } = data;
    const count = texts[0].at.length;
    const text = (column, n) => (texts[column].at[n] === null ? "" : pool[texts[column].at[n]]);
    const search = box.querySelector("input");
    const by = box.querySelector(".by");
    const way = box.querySelector(".way");
    const head = box.querySelector("thead tr");
    const body = box.querySelector("tbody");
    const more = box.querySelector(".more");
    const clear = box.querySelector(".clear");
    const map = document.querySelector(`[data-texts="${box.id}"]`);
    const selects = [];
    let shown = PART;
    let order = [];
    let picked = null;
    let reversed = false;

    for (const choice of choices) {
      const made = element("option", choice.heading);
      made.value = choice.name;
      by?.append(made);
    }
    for (const tag of tags) {
      const select = element("select");
      select.append(new Option("all", ""));
      for (const value of [...new Set(tag.values.filter((one) => one !== null))].sort()) select.append(new Option(value, value));
      const label = element("label", `${tag.heading} `);
      label.append(select);
      box.querySelector(".tags").append(label);
      selects.push(select);
      select.addEventListener("change", () => refresh());
    }

    // Every different text once in lower case, made before it is needed: a search is a scan of these.
    let lower = null;
    const prepare = () => (lower ??= pool.map((one) => one.toLowerCase()));
    (window.requestIdleCallback ?? ((work) => setTimeout(work, 200)))(prepare);

    function rowsWith(word) {
      const hits = prepare().map((one) => one.includes(word));
      const labels = tags.map((tag) => new Set(tag.values.filter((value) => value?.toLowerCase().includes(word))));
      return (n) => texts.some((column) => hits[column.at[n]]) || labels.some((found, k) => found.has(tags[k].values[n]));
    }

    const orders = new Map();
    function sorted(choice) {
      const key = `${choice?.name} ${reversed}`;
      if (!orders.has(key)) {
        const rows = Array.from({ length: count }, (_, n) => n);
        const sign = ((choice?.first === "descending") !== reversed) ? -1 : 1;
        const value = (n) => choice.sort[n];
        if (choice) rows.sort((a, b) => (value(a) === null) - (value(b) === null) || sign * (value(a) - value(b)));
        orders.set(key, rows);
      }
      return orders.get(key);
    }

    const chosen = () => choices.find((choice) => choice.name === by?.value) ?? choices[0];

    function refresh(keep) {
      const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean).map(rowsWith);
      const choice = chosen();
      const side = way?.value ? Number(way.value) : 0;
      if (!keep) shown = PART;
      order = sorted(choice).filter((n) =>
        (!picked || picked.has(n)) &&
        wanted.every((matches) => matches(n)) &&
        selects.every((select, k) => !select.value || tags[k].values[n] === select.value) &&
        (!side || side * choice.sort[n] > 0));
      box.querySelector(".count").textContent = order.length === count ? `${count.toLocaleString("en")} rows` : `${order.length.toLocaleString("en")} of ${count.toLocaleString("en")} rows`;
      clear.hidden = order.length === count;
      more.hidden = order.length <= shown;
      head.replaceChildren(...headings(choice));
      body.replaceChildren(...order.slice(0, shown).map((n) => row(n, choice)));
      map?.dispatchEvent(new CustomEvent("chosen", { detail: order.length === count ? null : new Set(order) }));
    }

    function headings(choice) {
      const names = [...tags.map((tag) => tag.heading), ...texts.map((one) => one.heading)];
      const made = names.map((name) => element("th", name));
      if (choice) {
        const button = element("button", choice.heading);
        button.type = "button";
        button.addEventListener("click", () => { reversed = !reversed; refresh(); head.querySelector("button").focus(); });
        const heading = element("th");
        heading.setAttribute("aria-sort", (choice.first === "descending") !== reversed ? "descending" : "ascending");
        heading.append(button);
        made.unshift(heading);
      }
      made.forEach((heading) => { heading.scope = "col"; });
      return made;
    }

    function row(n, choice) {
      const made = element("tr");
      if (choice) made.append(element("td", format(choice.sort[n]), "number"));
      for (const tag of tags) made.append(element("td", tag.values[n] ?? "", "tag"));
      const side = tags.find((tag) => tag.heading === "source")?.values[n];
      const speaking = data.telling?.[side] && new Set(data.telling[side]);
      const paired = choice?.under && texts.length > 1;
      texts.forEach((column, k) => {
        const cell = element("td", undefined, "text");
        let telling = k === 0 && speaking ? (word) => speaking.has(word) : null;
        if (!telling && !data.telling && k > 0 && texts.length > 1) {
          const other = words(text(0, n));
          telling = (word) => /[\p{L}\p{N}]/u.test(word) && !other.has(word);
        }
        marked(cell, text(k, n), k === 0 && data.passage?.[n] != null ? pool[data.passage[n]] : "", telling);
        if (paired && choice.under[k]) cell.append(" ", element("small", format(choice.under[k][n])));
        made.append(cell);
      });
      return made;
    }

    search.addEventListener("input", () => refresh());
    by?.addEventListener("change", () => { reversed = false; refresh(); });
    way?.addEventListener("change", () => refresh());
    more.addEventListener("click", () => { shown += 4 * PART; refresh(true); });
    clear.addEventListener("click", () => {
      search.value = "";
      if (way) way.value = "";
      for (const select of selects) select.value = "";
      picked = null;
      refresh();
      search.focus();
    });
    box.querySelector(".csv").addEventListener("click", (event) => {
      const choice = chosen();
      const names = [...choices.map((one) => one.heading), ...tags.map((tag) => tag.heading), ...texts.map((one) => one.heading)];
      const cells = (n) => [...choices.map((one) => one.sort[n] ?? ""), ...tags.map((tag) => textgaugeQuote(tag.values[n] ?? "")), ...texts.map((_, k) => textgaugeQuote(text(k, n)))];
      textgaugeSaveText([["index", ...names.map(textgaugeQuote)], ...order.map((n) => [data.index[n], ...cells(n)])], event.currentTarget.dataset.name, choice);
    });
    document.addEventListener("click", (event) => {
      const link = event.target.closest(`a[data-by][href="#${box.id}"]`);
      if (!link || !by) return;
      by.value = link.dataset.by;
      for (const [name, value] of Object.entries(JSON.parse(link.dataset.of ?? "{}"))) {
        const place = tags.findIndex((tag) => tag.heading === name);
        if (place >= 0) selects[place].value = value;
      }
      reversed = false;
      refresh();
    });
    if (map && data.map) draw(map, data, text, (rows) => { picked = rows; refresh(); });
    refresh();
    box.dataset.ready = "";
  }

  // The map: a canvas of points, coloured by corpus. Hover shows a text, a drawn box or Enter filters the table.
  function draw(map, data, text, pick) {
    const canvas = map.querySelector("canvas");
    const pen = canvas.getContext("2d");
    const [xs, ys] = data.map;
    const tag = data.tags.find((one) => one.heading === "source" || one.heading === "corpus");
    const names = [...new Set(tag?.values ?? [null])].sort();
    const groups = names.includes("reference") ? ["reference", ...names.filter((name) => name !== "reference")] : names.reverse();
    const colour = (n) => COLOURS[tag ? groups.indexOf(tag.values[n]) % COLOURS.length : 0];
    const known = xs.map((x, n) => n).filter((n) => xs[n] !== null && ys[n] !== null);
    const ends = (values) => known.reduce(([low, high], n) => [Math.min(low, values[n]), Math.max(high, values[n])], [Infinity, -Infinity]);
    const [left, right] = ends(xs);
    const [bottom, top] = ends(ys);
    let chosen = null;
    let drag = null;
    let at = -1;
    map.querySelector(".legend").prepend(...(tag ? groups : []).map((name, k) => element("span", name, `swatch ${COLOURS[k].slice(2)}`)));

    let box = [canvas.clientWidth, canvas.clientHeight];
    const size = () => box;
    function place(n) {
      const [width, height] = size();
      return [10 + (width - 20) * (xs[n] - left) / (right - left || 1), height - 10 - (height - 20) * (ys[n] - bottom) / (top - bottom || 1)];
    }

    let waiting = false;
    function paint() {
      // After the table is on the screen: a search shows its rows first.
      if (!waiting) requestAnimationFrame(() => setTimeout(() => { waiting = false; paintNow(); }));
      waiting = true;
    }

    function paintNow() {
      const [width, height] = size();
      const scale = devicePixelRatio || 1;
      const many = known.length > 2000;
      canvas.width = width * scale;
      canvas.height = height * scale;
      pen.scale(scale, scale);
      const style = getComputedStyle(document.documentElement);
      const fills = Object.fromEntries(COLOURS.map((name) => [name, style.getPropertyValue(name)]));
      for (const dim of [true, false]) {
        pen.globalAlpha = dim ? 0.12 : many ? 0.45 : 0.7;
        let last = "";
        for (const n of known) {
          if (dim === (!chosen || chosen.has(n))) continue;
          const [x, y] = place(n);
          if (last !== colour(n)) pen.fillStyle = fills[(last = colour(n))];
          if (many) { pen.fillRect(x - 1.5, y - 1.5, 3, 3); continue; }
          pen.beginPath();
          pen.arc(x, y, 3, 0, 7);
          pen.fill();
        }
      }
      pen.globalAlpha = 1;
      pen.strokeStyle = style.getPropertyValue("--ink");
      if (at >= 0) { pen.beginPath(); pen.arc(...place(at), 6, 0, 7); pen.stroke(); }
      if (drag) pen.strokeRect(drag.x, drag.y, drag.to[0] - drag.x, drag.to[1] - drag.y);
    }

    function nearest(x, y, reach) {
      let best = -1;
      let least = reach * reach;
      for (const n of known) {
        const [px, py] = place(n);
        const far = (px - x) ** 2 + (py - y) ** 2;
        if (far < least) [best, least] = [n, far];
      }
      return best;
    }

    function tell(n, x, y) {
      const pairs = [[tag?.values[n] ?? "", text(0, n)]];
      if (data.texts.length > 1) pairs.push([data.texts[1].heading, text(1, n)]);
      textgaugeTip(pairs, x, y);
    }

    canvas.addEventListener("pointerdown", (event) => {
      drag = { x: event.offsetX, y: event.offsetY, to: [event.offsetX, event.offsetY] };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (drag) drag.to = [event.offsetX, event.offsetY];
      at = drag ? -1 : nearest(event.offsetX, event.offsetY, 12);
      if (at >= 0) tell(at, event.clientX, event.clientY);
      else textgaugeTip(null);
      paint();
    });
    canvas.addEventListener("pointerleave", () => { at = -1; textgaugeTip(null); paint(); });
    canvas.addEventListener("pointerup", () => {
      const { x, y, to } = drag ?? { x: 0, y: 0, to: [0, 0] };
      drag = null;
      if (Math.abs(to[0] - x) + Math.abs(to[1] - y) < 6) { const n = nearest(x, y, 12); pick(n < 0 ? null : new Set([n])); return; }
      const inside = (n) => { const [px, py] = place(n); return (px - x) * (px - to[0]) <= 0 && (py - y) * (py - to[1]) <= 0; };
      pick(new Set(known.filter(inside)));
    });
    canvas.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (event.key === "Escape") { at = -1; textgaugeTip(null); pick(null); }
      if (event.key === "Enter" && at >= 0) {
        const [x, y] = place(at);
        pick(new Set(known.filter((n) => { const [px, py] = place(n); return (px - x) ** 2 + (py - y) ** 2 < 900; })));
      }
      if (!step) return;
      event.preventDefault();
      const [x, y] = at < 0 ? size().map((side) => side / 2) : place(at);
      const cost = (n) => { const [px, py] = place(n); const along = (px - x) * step[0] + (py - y) * step[1]; return along <= 0.5 ? Infinity : along + 2 * Math.abs((px - x) * step[1] + (py - y) * step[0]); };
      const next = at < 0 ? nearest(x, y, 1e4) : known.reduce((best, n) => (cost(n) < cost(best) ? n : best), at);
      if (cost(next) === Infinity && at >= 0) return;
      at = next;
      const here = canvas.getBoundingClientRect();
      const [px, py] = place(at);
      tell(at, here.left + px, here.top + py);
      map.querySelector("[role=status]").textContent = `${tag?.values[at] ?? ""}: ${text(0, at)}`;
      paint();
    });
    map.querySelector(".save").addEventListener("click", () => textgaugeSave(canvas.toDataURL("image/png"), `${map.id}.png`));
    map.addEventListener("chosen", (event) => { chosen = event.detail; paint(); });
    new ResizeObserver(() => { box = [canvas.clientWidth, canvas.clientHeight]; paint(); }).observe(canvas);
    new MutationObserver(paint).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  }

  for (const box of document.querySelectorAll(".texts")) {
    textgaugeUnpack(box.querySelector(".packed").textContent).then((packed) => show(box, JSON.parse(packed)));
  }
})();
