// Zoom (click, Enter; Escape goes back out) and search (/ or Ctrl-F) of a flame graph. Without it
// the picture is whole: boxes have tooltips.
(function () {
  "use strict";
  var svg = document.querySelector("svg.flame");
  var boxes = Array.prototype.slice.call(svg.querySelectorAll(".box"));
  var width = +svg.dataset.width, total = +svg.dataset.total, status = svg.querySelector(".status");
  var CHARACTER = 7.25, said = status.textContent;

  boxes.forEach(function (g) {
    g.box = { x: +g.dataset.x, w: +g.dataset.w, level: +g.dataset.l };
    g.full = g.querySelector("title").textContent;
    g.name = g.full.slice(0, g.full.lastIndexOf(": "));
  });

  function place(g, from, size) {
    var x = (g.box.x - from) / size * width, w = g.box.w / size * width;
    var left = Math.max(x, 0), right = Math.min(x + w, width);
    var rect = g.querySelector("rect"), text = g.querySelector("text");
    var shown = right - left >= 0.3;
    g.classList.toggle("gone", !shown);
    if (!shown) return;
    rect.setAttribute("x", left.toFixed(1));
    rect.setAttribute("width", (right - left).toFixed(1));
    var room = Math.floor((right - left - 6) / CHARACTER);
    if (!text && room > 2) {
      text = document.createElementNS("http://www.w3.org/2000/svg", "text");
      text.setAttribute("y", +rect.getAttribute("y") + 12);
      g.appendChild(text);
    }
    if (!text) return;
    text.setAttribute("x", (left + 3).toFixed(1));
    text.textContent = room <= 2 ? "" : g.name.length <= room ? g.name : g.name.slice(0, room - 1) + "\u2026";
  }

  function zoom(g) {
    var from = g ? g.box.x : 0, size = g ? g.box.w : total, level = g ? g.box.level : 0;
    boxes.forEach(function (b) {
      place(b, from, size);
      b.classList.toggle("faint", b.box.level < level);
    });
    status.textContent = g ? g.full : said;
    try {
      history.replaceState(null, "", g ? "#box=" + boxes.indexOf(g) : location.pathname);
    } catch (e) { /* a file in another frame */ }
  }

  // What matches, nested matches once: parents come before what they call.
  function search(words) {
    var sum = 0, until = -1, n = 0, re = null;
    try {
      re = words ? new RegExp(words, "i") : null;
    } catch (e) {
      status.textContent = "no regular expression: " + words;
      return;
    }
    boxes.forEach(function (g) {
      var found = !!re && re.test(g.name);
      g.classList.toggle("found", found);
      n += found;
      if (found && g.box.x >= until) {
        sum += g.box.w;
        until = g.box.x + g.box.w;
      }
    });
    status.textContent = re ? n + " match, " + (100 * sum / total).toFixed(1) + " % together" : said;
  }

  svg.addEventListener("click", function (e) {
    var g = e.target.closest(".box");
    if (g) zoom(g);
  });
  document.addEventListener("keydown", function (e) {
    var field = document.querySelector("input.search"), g = document.activeElement;
    if (e.key === "Escape") {
      search("");
      if (field) field.value = "";
      zoom(null);
    } else if (e.key === "Enter" && g && g.classList.contains("box")) {
      zoom(g);
    } else if ((e.key === "/" && g !== field) || (e.key === "f" && (e.ctrlKey || e.metaKey))) {
      e.preventDefault();
      if (field) field.focus();
      else search(prompt("Search (regular expression)") || "");
    }
  });
  var field = document.querySelector("input.search");
  if (field) field.addEventListener("input", function () { search(field.value); });
  var state = /^#box=(\d+)$/.exec(location.hash);
  if (state && boxes[+state[1]]) zoom(boxes[+state[1]]);
})();
