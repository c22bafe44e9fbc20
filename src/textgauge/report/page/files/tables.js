// Tables: sort by a click or a key on a heading, filter by words, save as CSV what the page holds.
(() => {
  const exact = (cell) => cell.dataset.value ?? cell.textContent.trim();

  function compare(a, b, numeric) {
    if (a === "" || b === "") return (a === "") - (b === "");
    return numeric ? Number(a) - Number(b) : a.localeCompare(b);
  }

  // Rows without a value stay last in both directions.
  function sort(table, heading) {
    const place = heading.cellIndex;
    const numeric = "numeric" in heading.dataset;
    const now = heading.getAttribute("aria-sort");
    const next = now ? (now === "ascending" ? "descending" : "ascending") : heading.firstChild.dataset.first;
    const sign = next === "ascending" ? 1 : -1;
    for (const other of heading.parentNode.cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", next);
    const keyed = [...table.tBodies[0].rows].map((row) => [exact(row.cells[place]), row]);
    keyed.sort(([a], [b]) => (a === "" || b === "" ? 1 : sign) * compare(a, b, numeric));
    table.tBodies[0].append(...keyed.map(([, row]) => row));
    table.classList.toggle("reordered", !(heading.dataset.name === "rank" && next === "ascending"));
  }

  function refresh(box, table) {
    const wanted = (box.querySelector("input")?.value ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    let matching = 0;
    for (const row of table.tBodies[0].rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !wanted.every((word) => text.includes(word));
      matching += !row.hidden;
    }
    const count = box.querySelector(".count");
    if (count) count.textContent = wanted.length ? `${matching} of ${count.dataset.total} rows` : `${count.dataset.total} rows`;
  }

  function lines(table) {
    const headings = [...table.tHead.rows[0].cells];
    const rows = [...table.tBodies[0].rows].filter((row) => !row.hidden);
    const cells = (row) => [...row.cells].map((cell, n) => ("numeric" in headings[n].dataset ? exact(cell) : textgaugeQuote(exact(cell))));
    return [headings.map((heading) => heading.dataset.name), ...rows.map(cells)];
  }

  for (const box of document.querySelectorAll(".table")) {
    const table = box.querySelector("table");
    table.tHead.addEventListener("click", (event) => {
      const heading = event.target.closest("th");
      if (!heading) return;
      sort(table, heading);
      refresh(box, table);
    });
    box.querySelector("input")?.addEventListener("input", () => refresh(box, table));
    box.querySelector(".more")?.addEventListener("click", (event) => {
      const open = event.currentTarget.getAttribute("aria-pressed") !== "true";
      event.currentTarget.setAttribute("aria-pressed", String(open));
      for (const cell of table.querySelectorAll(".extra")) cell.hidden = !open;
    });
    const button = box.querySelector(".csv");
    button.addEventListener("click", () => textgaugeSaveText(lines(table), button.dataset.name));
  }

  // A link leads into what is folded.
  function unfold() {
    let place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const target = place;
    for (; place; place = place.parentElement) if (place.tagName === "DETAILS") place.open = true;
    target?.scrollIntoView();
  }
  addEventListener("hashchange", unfold);
  if (location.hash) unfold();
})();

function textgaugeSave(url, name) {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
}

function textgaugeSaveText(lines, name) {
  const text = lines.map((line) => line.join(",")).join("\n") + "\n";
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  textgaugeSave(url, `${name}.csv`);
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

// A spreadsheet would run a text that begins like a formula.
function textgaugeQuote(given) {
  const text = /^[=+\-@\t\r\n＝＋－＠]/.test(given) ? `'${given}` : given;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

async function textgaugeUnpack(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}

// What is under the pointer, as text: pairs of a name and a value.
function textgaugeTip(pairs, x, y) {
  let tip = document.getElementById("tip");
  if (!tip) {
    tip = document.createElement("div");
    tip.id = "tip";
    document.body.append(tip);
    document.addEventListener("keydown", (event) => { if (event.key === "Escape") tip.hidden = true; });
    document.addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });
  }
  tip.hidden = !pairs;
  if (!pairs) return;
  const line = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });
  tip.replaceChildren(...pairs.flatMap(([name, said]) => [line("span", name), line("b", String(said))]));
  const left = Math.min(x + 12, document.documentElement.clientWidth - tip.offsetWidth - 8);
  const above = y + 16 + tip.offsetHeight > window.innerHeight;
  tip.style.left = `${Math.max(left, 8)}px`;
  tip.style.top = `${above ? y - tip.offsetHeight - 10 : y + 16}px`;
}
