// Tables: sorted by their heads, filtered, the first rows shown; several of a section behind tabs.
(function () {
  "use strict";
  var FIRST = 10, el = memtool.element;

  function value(row, column) {
    var cell = row.cells[column], v = cell.dataset.v;
    if (cell.classList.contains("n")) return v !== undefined ? +v : parseFloat(cell.textContent) || -Infinity;
    return cell.textContent;
  }

  function setup(panel) {
    var table = panel.querySelector("table"), body = table.tBodies[0];
    var rows = Array.prototype.slice.call(body.rows), all = false, re = null;
    var rest = el("div", { class: "rest" });

    function show() {
      var n = 0, matched = 0;
      rows.forEach(function (row) {
        var match = !re || re.test(row.textContent);
        row.classList.toggle("gone", !match);
        matched += match;
        if (match) n++;
        row.classList.toggle("later", match && !all && n > FIRST);
      });
      rest.textContent = "";
      if (re) rest.append(memtool.grouped(matched) + " of " + memtool.grouped(rows.length) + " rows match. ");
      if (!all && matched > FIRST) {
        var b = el("button", { type: "button" }, rest);
        el("span", { class: "act" }, b, "show ");
        b.append(memtool.grouped(matched - FIRST) + " more row" + (matched - FIRST === 1 ? "" : "s"));
        b.addEventListener("click", function () { all = true; show(); });
      }
      rest.hidden = !rest.textContent;
    }

    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (th, column) {
      var text = th.textContent, b = el("button", { type: "button" });
      th.textContent = "";
      b.textContent = text;
      th.appendChild(b);
      b.addEventListener("click", function () {
        var down = th.getAttribute("aria-sort") ? th.getAttribute("aria-sort") !== "descending" : th.classList.contains("n");
        Array.prototype.forEach.call(table.tHead.rows[0].cells, function (other) { other.removeAttribute("aria-sort"); });
        th.setAttribute("aria-sort", down ? "descending" : "ascending");
        rows.sort(function (x, y) {
          var a = value(x, column), c = value(y, column);
          return (a < c ? -1 : a > c ? 1 : 0) * (down ? -1 : 1);
        });
        rows.forEach(function (row) { body.appendChild(row); });
        show();
      });
    });
    panel.appendChild(rest);
    panel.filter = function (words) {
      try { re = words ? new RegExp(words, "i") : null; } catch (e) { return false; }
      show();
      return true;
    };
    show();
    return rows.length;
  }

  var marks = { leak: "\u25b2 ", candidate: "? ", state: "\u25a0 ", "last step": "\u25d4 ", yes: "\u2713 ", no: "\u25a0 ", unknown: "? " };
  Array.prototype.forEach.call(document.querySelectorAll("td.c-verdict,td.c-fits"), function (td) {
    var text = td.textContent;
    if (text === "-") return;
    td.textContent = "";
    el("span", { class: "chip v-" + text.replace(/ .*/, "") }, td, (marks[text] || "") + text);
  });
  Array.prototype.forEach.call(document.querySelectorAll("td.c-category"), function (td) {
    var text = td.textContent;
    td.textContent = "";
    el("i", { class: "sw k-" + text.replace(/[^a-z ]/g, "").replace(/ /g, "-") }, td);
    td.append(text);
  });

  Array.prototype.forEach.call(document.querySelectorAll("section"), function (section) {
    var panels = section.querySelectorAll(".panel:not(#curve):not(.heat)"), tabs = section.querySelectorAll(".tab"), most = 0;
    Array.prototype.forEach.call(panels, function (panel) { if (panel.querySelector("table")) most = Math.max(most, setup(panel)); });
    var first = section.querySelector(".tab,.part");
    if (!first || (tabs.length < 2 && most <= FIRST)) {
      if (tabs.length) tabs[0].classList.add("shown");
      return;
    }
    var tools = el("div", { class: "tools" });
    first.parentNode.insertBefore(tools, first);
    function choose(i) {
      Array.prototype.forEach.call(tabs, function (tab, k) { tab.classList.toggle("shown", i === k); });
    }
    if (tabs.length) choose(0);
    if (tabs.length > 1)
      memtool.group(tools, Array.prototype.map.call(tabs, function (tab) { return tab.dataset.label; }), 0, choose);
    if (most > FIRST) {
      var right = el("span", { class: "right" }, tools);
      var field = el("input", { type: "search", placeholder: "Filter rows", "aria-label": "Filter rows, a regular expression" }, right);
      field.addEventListener("input", function () {
        var good = true;
        Array.prototype.forEach.call(panels, function (panel) { if (panel.filter) good = panel.filter(field.value) && good; });
        field.classList.toggle("bad", !good);
      });
    }
  });
  addEventListener("beforeprint", function () {
    Array.prototype.forEach.call(document.querySelectorAll("details"), function (d) { d.open = true; });
  });
})();
