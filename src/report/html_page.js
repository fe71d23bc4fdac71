/* SPDX-License-Identifier: GPL-2.0-only */
(function () {
  "use strict";
  var tools = document.getElementById("tools");
  var filter = document.getElementById("filter");
  var moved = document.getElementById("moved");
  var count = document.getElementById("count");
  var sections = [];
  var total = 0;

  function text(row, index) {
    return row.cells[index].textContent;
  }

  function number(row, index) {
    var value = row.cells[index].getAttribute("data-v");
    return value === null ? NaN : Number(value);
  }

  /* Rows without a number stay last in either direction. */
  function compare(a, b, sign) {
    if (isNaN(a.number) || isNaN(b.number)) {
      return isNaN(a.number) - isNaN(b.number) || a.place - b.place;
    }
    return sign * (a.number - b.number) || a.place - b.place;
  }

  function sort(table, index) {
    var heads = table.tHead.rows[0].cells;
    var body = table.tBodies[0];
    var numeric = heads[index].className === "n";
    var before = heads[index].getAttribute("aria-sort");
    var first = numeric ? "descending" : "ascending";
    var other = numeric ? "ascending" : "descending";
    var order = before === first ? other : first;
    var sign = order === "ascending" ? 1 : -1;
    var keyed = Array.prototype.map.call(body.rows, function (row, place) {
      return { row: row, place: place, number: number(row, index), text: text(row, index) };
    });
    var numbers = keyed.some(function (key) { return !isNaN(key.number); });

    keyed.sort(function (a, b) {
      if (numbers) {
        return compare(a, b, sign);
      }
      return sign * (a.text > b.text ? 1 : a.text === b.text ? 0 : -1) || a.place - b.place;
    });
    keyed.forEach(function (key) { body.appendChild(key.row); });
    Array.prototype.forEach.call(heads, function (head) { head.removeAttribute("aria-sort"); });
    heads[index].setAttribute("aria-sort", order);
  }

  function apply() {
    var words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    var shown = 0;

    sections.forEach(function (section) {
      var here = 0;
      section.rows.forEach(function (entry) {
        var keep = words.every(function (word) { return entry.text.includes(word); });
        if (moved.checked ? entry.still : false) {
          keep = false;
        }
        entry.row.hidden = !keep;
        here += keep ? 1 : 0;
      });
      section.element.hidden = here === 0;
      shown += here;
    });
    count.textContent = shown + " of " + total + " rows";
  }

  Array.prototype.forEach.call(document.querySelectorAll("section.table"), function (element) {
    var table = element.querySelector("table");
    var rows = Array.prototype.map.call(table.tBodies[0].rows, function (row) {
      return { row: row, text: row.textContent.toLowerCase(), still: row.className === "z" };
    });
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (head, index) {
      var button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      button.addEventListener("click", function () { sort(table, index); });
      head.textContent = "";
      head.appendChild(button);
    });
    sections.push({ element: element, rows: rows });
    total += rows.length;
  });

  var timer = 0;
  filter.addEventListener("input", function () {
    clearTimeout(timer);
    timer = setTimeout(apply, 120);
  });
  moved.addEventListener("change", apply);
  document.getElementById("still").hidden = document.querySelector("tr.z") === null;
  tools.hidden = false;
  apply();
}());
