// Mark the tables that are wider than their place, so that site.css can say that they scroll.
const watch = new ResizeObserver((tables) => {
  for (const { target } of tables) {
    target.toggleAttribute("data-scrolls", target.scrollWidth > target.clientWidth + 1);
  }
});
for (const table of document.querySelectorAll(".bd-article table.table")) watch.observe(table);
