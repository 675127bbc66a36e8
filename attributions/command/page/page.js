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
  return number.toLocaleString("en", {maximumSignificantDigits: 3});
}

function signed(number) {
  return (number > 0 ? "+" : number < 0 ? "\u2212" : "") + shown(Math.abs(number));
}

function addRow(name, value, moved, helped, largest) {
  const row = explained.insertRow();
  const heading = document.createElement("th");
  heading.scope = "row";
  heading.append(Object.assign(document.createElement("bdi"), {textContent: name}));
  row.append(heading);
  row.insertCell().append(Object.assign(document.createElement("bdi"), {textContent: value}));
  const move = row.insertCell();
  const bar = document.createElement("span");
  bar.className = moved < 0 ? "move down" : "move up";
  bar.style.setProperty("--share", helped === null ? 0 : Math.abs(moved) / largest);
  move.append(bar, helped === null ? shown(moved) : signed(moved));
  const last = row.insertCell();
  last.textContent = helped === null ? "" : helped === 0 ? "0" : `${helped > 0 ? "helped" : "hurt"} ${shown(Math.abs(helped))}`;
  last.className = helped > 0 ? "helped" : helped < 0 ? "hurt" : "";
}

function show(place) {
  choice.selectedIndex = place;
  const [number, , predicted, truth, features, others, predictedClass] = data.rows[place];
  const base = predictedClass === undefined ? data.base : data.base[predictedClass];
  document.getElementById("row-caption").textContent = `Row ${number}: predicted ${predicted}; in truth ${truth}`;
  explained.replaceChildren();
  const largest = Math.max(...features.map((feature) => Math.abs(feature[2])), Math.abs(others[0]));
  addRow(`start, the same for every row${predictedClass === undefined ? "" : " of this prediction"}`, "", base, null);
  for (const [k, value, moved, helped] of features) addRow(data.names[k], value, moved, helped, largest);
  if (data.names.length > features.length) addRow("all other features", "", ...others, largest);
  const total = features.reduce((sum, feature) => sum + feature[2], base + others[0]);
  addRow(`prediction, in ${data.unit}`, "", total, null);
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
