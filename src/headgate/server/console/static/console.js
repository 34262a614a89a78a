// What pages do by themselves: draw plots, follow a lake while one looks, and put "/" into the search.
(() => {
  "use strict";

  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  const asBytes = (value) => {
    let unit = 0;
    while (Math.abs(value) >= 1024 && unit < units.length - 1) { value /= 1024; unit += 1; }
    return `${Math.round(value * 10) / 10} ${units[unit]}`;
  };
  const asCount = (value) => (Number.isInteger(value) ? value.toLocaleString("en") : "");
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const drawn = new Map();

  const draw = (element) => {
    const plot = JSON.parse(element.dataset.plot);
    const shown = (value) => (plot.unit === "bytes" ? asBytes(value) : asCount(value));
    const quiet = colour("--quiet"), line = colour("--line"), accent = colour("--accent");
    const font = "12px system-ui, sans-serif";
    const step = Math.max(1, Math.ceil(plot.labels.length / Math.max(2, Math.floor(element.clientWidth / 90))));
    const options = {
      width: element.clientWidth,
      height: element.clientHeight,
      cursor: { show: false },
      legend: { show: false },
      scales: {
        x: { time: false, range: [-0.6, plot.labels.length - 0.4] },
        y: { range: (_, __, most) => [0, Math.max(1, most * 1.08)] },
      },
      axes: [
        {
          stroke: quiet, font, grid: { show: false }, ticks: { show: false }, gap: 6, size: 30,
          splits: () => plot.labels.map((_, at) => at).filter((at) => at % step === 0),
          values: (_, at) => at.map((each) => (plot.labels[each] ?? "").slice(0, 14)),
        },
        { stroke: quiet, font, grid: { stroke: line, width: 1 }, ticks: { show: false }, size: 64, values: (_, at) => at.map(shown) },
      ],
      series: [{}, { fill: accent, stroke: accent, width: 0, points: { show: false }, paths: uPlot.paths.bars({ size: [0.7, 46] }) }],
    };
    drawn.get(element)?.destroy();
    element.replaceChildren();
    drawn.set(element, new uPlot(options, [plot.labels.map((_, at) => at), plot.values], element));
  };

  const drawAll = () => {
    for (const element of drawn.keys()) if (!element.isConnected) { drawn.get(element).destroy(); drawn.delete(element); }
    for (const element of document.querySelectorAll("[data-plot]")) if (element.clientWidth) draw(element);
  };

  let waiting = 0;
  const soon = (work, pause) => { clearTimeout(waiting); waiting = setTimeout(work, pause); };

  const follow = (element) => {
    const kinds = ["commit", "create", "drop", "undrop", "purge", "rename", "adopt", "release", "refusal", "incident", "permission"];
    const source = new EventSource(element.dataset.live);
    let due = 0;
    const changed = () => {
      if (due) return;
      due = setTimeout(() => { due = 0; element.dispatchEvent(new CustomEvent("lake-changed")); }, 700);
    };
    for (const kind of kinds) source.addEventListener(kind, changed);
    addEventListener("pagehide", () => source.close());
  };

  // What was done is said once, and not again to who comes back or loads the page anew.
  const forgetWhatWasDone = () => {
    const address = new URL(location.href);
    if (!address.searchParams.has("done")) return;
    address.searchParams.delete("done");
    history.replaceState(history.state, "", address);
  };

  document.addEventListener("DOMContentLoaded", () => {
    forgetWhatWasDone();
    drawAll();
    for (const here of document.querySelectorAll(".side [aria-current], .tabs [aria-current]")) {
      const list = here.closest("ul");
      list.scrollLeft = here.parentElement.offsetLeft - list.offsetLeft - (list.clientWidth - here.offsetWidth) / 2;
    }
    document.querySelectorAll("[data-live]").forEach(follow);
    new MutationObserver((changes) => {
      if (changes.some((change) => [...change.addedNodes].some((node) => node.querySelector?.("[data-plot]")))) drawAll();
    }).observe(document.body, { childList: true, subtree: true });
    addEventListener("resize", () => soon(drawAll, 150));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
    addEventListener("keydown", (event) => {
      const typing = event.target.matches?.("input, select, textarea");
      const search = document.getElementById("search");
      if (event.key === "/" && !typing && search && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        search.focus();
      }
    });
  });
})();
