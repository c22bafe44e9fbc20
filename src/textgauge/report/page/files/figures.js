// Figures: unpacked and drawn when they come into view; tooltips are text, never HTML.
(() => {
  const library = document.getElementById("library");
  if (!library) return;

  // The page's policy knows the hash of this script and lets no other in.
  let loaded = null;
  function load() {
    loaded ??= textgaugeUnpack(library.textContent).then((text) => {
      const script = document.createElement("script");
      script.textContent = text;
      document.head.append(script);
      if (!window.vegaEmbed) throw new Error("the drawing library did not start");
    });
    return loaded;
  }

  function rows(columns) {
    const names = Object.keys(columns);
    const length = names.length ? columns[names[0]].length : 0;
    return Array.from({ length }, (_, n) => Object.fromEntries(names.map((name) => [name, columns[name][n]])));
  }

  function tooltip(_handler, event, _item, value) {
    const empty = value === null || value === undefined || value === "";
    textgaugeTip(empty ? null : typeof value === "object" ? Object.entries(value) : [["", value]], event.clientX, event.clientY);
  }

  const views = new Map();
  function draw(figure) {
    if (!views.has(figure)) views.set(figure, drawn(figure));
    return views.get(figure);
  }

  async function drawn(figure) {
    const plot = figure.querySelector(".plot");
    try {
      await load();
      const { spec, data } = JSON.parse(await textgaugeUnpack(figure.querySelector("script").textContent));
      spec.datasets = Object.fromEntries(Object.entries(data).map(([name, columns]) => [name, rows(columns)]));
      spec.config = { ...spec.config, font: getComputedStyle(document.body).fontFamily };
      // ast: expressions are interpreted, so that no text is ever compiled into code.
      const { view } = await vegaEmbed(plot, spec, {
        actions: false, ast: true, defaultStyle: false, mode: "vega-lite", renderer: "svg", tooltip,
      });
      plot.querySelector("svg").setAttribute("aria-hidden", "true"); // the plot has words of its own
      figure.dataset.drawn = "";
      return view;
    } catch (error) {
      plot.textContent = `This figure could not be drawn: ${error.message}. A browser of 2023 or later is needed.`;
      throw error;
    }
  }

  // What is in view first, the rest when nothing else is to be done, so that a printed page has all of them.
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) draw(entry.target);
  }, { rootMargin: "400px" });
  const waiting = [...document.querySelectorAll(".kind figure:not([hidden])")];
  waiting.forEach((figure) => seen.observe(figure));
  const later = window.requestIdleCallback ?? ((work) => setTimeout(work, 200));
  const next = () => { if (waiting.length) draw(waiting.shift()).finally(() => later(next)).catch(() => {}); };
  addEventListener("load", () => later(next));

  for (const kind of document.querySelectorAll(".kind")) {
    kind.querySelector("select")?.addEventListener("change", (event) => {
      for (const figure of kind.querySelectorAll("figure")) figure.hidden = figure.id !== event.target.value;
      draw(kind.querySelector("figure:not([hidden])"));
    });
    for (const button of kind.querySelectorAll(".save")) {
      button.addEventListener("click", async () => {
        const figure = kind.querySelector("figure:not([hidden])");
        const view = await draw(figure);
        textgaugeSave(await view.toImageURL(button.dataset.form, 2), `${figure.dataset.name}.${button.dataset.form}`);
      });
    }
  }
})();
