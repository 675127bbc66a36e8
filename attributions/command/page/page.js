"use strict";
// Sorting, finding and the row explorer; everything else on the page does without this script.
document.documentElement.classList.add("script");

const table = document.getElementById("features");
const body = table.tBodies[0];
const headings = [...table.tHead.rows[0].cells];

function keyOf(row, column, isNumber) {
  const cell = row.cells[column];
  return isNumber ? Number(cell.dataset.value) : cell.textContent;
}

headings.forEach((heading, column) => {
  const button = heading.querySelector("button");
  const isNumber = button.hasAttribute("data-numbers");
  button.addEventListener("click", () => {
    const before = heading.getAttribute("aria-sort");
    const first = isNumber ? "descending" : "ascending";
    const other = isNumber ? "ascending" : "descending";
    const order = before === first ? other : first;
    headings.forEach((each) => each.setAttribute("aria-sort", "none"));
    heading.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    const compare = isNumber ? (a, b) => a - b : (a, b) => a.localeCompare(b, "en");
    const rows = [...body.rows].map((row) => [keyOf(row, column, isNumber), row]);
    const isUnused = (pair) => pair[1].classList.contains("unused");
    rows.sort((a, b) => isUnused(a) - isUnused(b) || sign * compare(a[0], b[0]));
    body.append(...rows.map((pair) => pair[1]));
  });
});

const search = document.getElementById("find-feature");
search.addEventListener("input", () => {
  const wanted = search.value.trim().toLowerCase();
  let shown = 0;
  for (const row of body.rows) {
    row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted);
    shown += !row.hidden;
  }
  document.getElementById("found").textContent = wanted ? `${shown} of ${body.rows.length}` : "";
});

const data = JSON.parse(document.getElementById("row-data").textContent);
const choice = document.getElementById("row");
const status = document.getElementById("row-status");
const explained = document.getElementById("row-table").tBodies[0];

function shown(number) {
  return number.toLocaleString("en", {maximumSignificantDigits: 3}).replace("-", "\u2212");
}

function signed(number) {
  return (number > 0 ? "+" : "") + shown(number);
}

function addRow(name, value, moved, helped, from, to, said) { // a bar from and to shares of the width
  const row = explained.insertRow();
  const heading = document.createElement("th");
  heading.scope = "row";
  heading.append(Object.assign(document.createElement("bdi"), {textContent: name}));
  row.append(heading);
  row.insertCell().append(Object.assign(document.createElement("bdi"), {textContent: value}));
  const move = row.insertCell();
  const bar = document.createElement("span");
  bar.className = helped === null ? "move" : moved < 0 ? "move down" : "move up";
  bar.style.setProperty("--from", Math.min(from, to));
  bar.style.setProperty("--share", Math.max(Math.abs(to - from), 0.01));
  move.append(bar, said ?? (helped === null ? shown(moved) : signed(moved)));
  const last = row.insertCell();
  last.textContent = helped === null ? "" : helped === 0 ? "0" : `${helped > 0 ? "helped" : "hurt"} ${shown(Math.abs(helped))}`;
}

function show(place) {
  choice.selectedIndex = place;
  const [number, , predicted, truth, features, others, predictedClass] = data.rows[place];
  const base = predictedClass === undefined ? data.base : data.base[predictedClass];
  document.getElementById("row-caption").textContent = `Row ${number}: predicted ${predicted}; in truth ${truth}`;
  explained.replaceChildren();
  const reached = [base]; // from the start to the prediction, move by move
  for (const moved of [...features.map((feature) => feature[2]), others[0]]) reached.push(reached.at(-1) + moved);
  const low = Math.min(...reached), width = Math.max(...reached) - low || 1;
  const places = reached.map((sum) => (sum - low) / width), n = features.length;
  addRow(`start, the same for every row${predictedClass === undefined ? "" : " of this prediction"}`, "", base, null, places[0], places[0]);
  features.forEach(([k, value, moved, helped], j) => addRow(data.names[k], value, moved, helped, places[j], places[j + 1]));
  if (data.names.length > n) addRow("all other features", "", ...others, places[n], places[n + 1]);
  addRow(`prediction, in ${data.unit}`, "", reached[n + 1], null, places[n + 1], places[n + 1], data.is_in_unit ? predicted.replace(/^-/, "\u2212") : undefined);
  document.getElementById("previous").disabled = place === 0;
  document.getElementById("next").disabled = place === data.rows.length - 1;
}

const groups = new Map();
for (const row of data.rows) {
  if (!groups.has(row[1])) {
    const group = document.createElement("optgroup");
    group.label = row[1];
    groups.set(row[1], group);
    choice.append(group);
  }
  groups.get(row[1]).append(new Option(`${row[0]}: ${row[2]}, in truth ${row[3]}`));
}
choice.addEventListener("change", () => { status.textContent = ""; show(choice.selectedIndex); });
document.getElementById("previous").addEventListener("click", () => show(choice.selectedIndex - 1));
document.getElementById("next").addEventListener("click", () => show(choice.selectedIndex + 1));
document.getElementById("find-row").addEventListener("change", (event) => {
  const wanted = Number(event.target.value);
  const place = data.rows.findIndex((row) => row[0] === wanted);
  status.textContent = place < 0 ? `Row ${wanted} is not among the ${data.rows.length} rows that can be looked at.` : "";
  if (place >= 0) show(place);
});
show(0);
addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
});
