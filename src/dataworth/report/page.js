"use strict";
(() => {
  const root = document.documentElement, theme = document.getElementById("theme");
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const name = () => { theme.textContent = dark() ? "Light" : "Dark"; theme.setAttribute("aria-label", "Switch to " + (dark() ? "light" : "dark")); };
  theme.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; name(); });
  theme.hidden = false;
  name();
  for (const table of document.querySelectorAll("table.sorts")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") !== "ascending", key = (row) => row.cells[column].dataset.v;
        const rows = [...table.tBodies[0].rows], text = (row) => row.cells[column].textContent;
        const numbers = rows.every((row) => key(row) !== undefined || text(row) === "–");
        rows.sort((a, b) => (up ? 1 : -1) * (numbers ? (key(a) ?? -Infinity) - (key(b) ?? -Infinity)
          : text(a).localeCompare(text(b), "en", { numeric: true })));
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        table.tBodies[0].append(...rows);
      });
    });
  }
})();
