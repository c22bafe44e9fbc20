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

  // Rows that match the words; of tables of texts the first few, until all are asked for or words are given.
  function refresh(box, table) {
    const wanted = (box.querySelector("input")?.value ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    const all = wanted.length || box.querySelector(".all")?.getAttribute("aria-pressed") !== "false";
    const few = all ? Infinity : Number(box.dataset.few);
    let matching = 0;
    for (const row of table.tBodies[0].rows) {
      const text = row.textContent.toLowerCase();
      row.classList.toggle("out", !wanted.every((word) => text.includes(word)));
      matching += !row.classList.contains("out");
      row.hidden = row.classList.contains("out") || matching > few;
    }
    const count = box.querySelector(".count");
    if (count) count.textContent = wanted.length ? `${matching} of ${count.dataset.total} rows` : `${count.dataset.total} rows`;
  }

  // A spreadsheet would run a text that begins like a formula.
  function quoted(cell, numeric) {
    let text = exact(cell);
    if (!numeric && /^[=+\-@\t\r\n＝＋－＠]/.test(text)) text = `'${text}`;
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  function csv(table) {
    const headings = [...table.tHead.rows[0].cells];
    const lines = [headings.map((heading) => heading.dataset.name)];
    for (const row of table.tBodies[0].rows) {
      if (!row.classList.contains("out")) lines.push([...row.cells].map((cell, n) => quoted(cell, "numeric" in headings[n].dataset)));
    }
    return lines.map((line) => line.join(",")).join("\n") + "\n";
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
    const pressed = (button) => {
      const now = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(now));
      return now;
    };
    box.querySelector(".all")?.addEventListener("click", (event) => {
      pressed(event.currentTarget);
      refresh(box, table);
    });
    box.querySelector(".more")?.addEventListener("click", (event) => {
      const open = pressed(event.currentTarget);
      for (const cell of table.querySelectorAll(".extra")) cell.hidden = !open;
    });
    const button = box.querySelector(".csv");
    button.addEventListener("click", () => {
      const url = URL.createObjectURL(new Blob([csv(table)], { type: "text/csv;charset=utf-8" }));
      textgaugeSave(url, `${button.dataset.name}.csv`);
      setTimeout(() => URL.revokeObjectURL(url), 10000);
    });
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
