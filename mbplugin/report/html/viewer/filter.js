// Shows the findings of the chosen severities, code and words.
export function filterFindings(bar) {
  const rows = [...bar.parentElement.querySelectorAll("tbody tr[data-code]")];
  const severities = [...bar.querySelectorAll("[data-severity]")];
  const code = bar.querySelector("[data-code]");
  const text = bar.querySelector("[data-text]");
  const apply = () => {
    const chosen = new Set(severities.filter((box) => box.checked).map((box) => box.dataset.severity));
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const said = row.textContent.toLowerCase();
      row.hidden =
        !chosen.has(row.dataset.severity) ||
        (code.value !== "" && code.value !== row.dataset.code) ||
        !words.every((word) => said.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    bar.querySelector("[data-count]").textContent = `${shown} of ${rows.length}`;
  };
  bar.addEventListener("input", apply);
  apply();
}
