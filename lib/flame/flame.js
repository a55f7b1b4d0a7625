// Zoom (click, Enter; Escape goes back out) and search (/ or Ctrl-F) of a flame graph. Without it
// the picture is whole: boxes have tooltips, and below stand the names that have no room.
//
// A box: x and w in the unit of the measure, its level, its name, `full` what is said of it, g its
// element; null: how.make(box) draws it once there is room for it. how: width in pixels, total,
// say(text, box), remember(number of the box or -1), shown(box that fills the width), field.
function memtoolFlame(svg, boxes, how) {
  "use strict";
  var CHARACTER = 7.25, zoomed = null;

  function place(b, from, size) {
    var x = (b.x - from) / size * how.width, w = b.w / size * how.width;
    var left = Math.max(x, 0), right = Math.min(x + w, how.width);
    var shown = right - left >= 0.3;
    b.room = right - left;
    if (!b.g && shown) b.g = how.make(b);
    if (!b.g) return;
    b.g.box = b;
    b.g.classList.toggle("gone", !shown);
    if (!shown) return;
    var rect = b.g.querySelector("rect"), text = b.g.querySelector("text");
    rect.setAttribute("x", left.toFixed(1));
    rect.setAttribute("width", (right - left).toFixed(1));
    var room = Math.floor((right - left - 6) / CHARACTER);
    if (!text && room > 2) {
      text = document.createElementNS("http://www.w3.org/2000/svg", "text");
      text.setAttribute("y", +rect.getAttribute("y") + 12);
      b.g.appendChild(text);
    }
    if (!text) return;
    text.setAttribute("x", (left + 3).toFixed(1));
    var both = b.size ? b.name + " \u00b7 " + b.size : b.name;
    text.textContent = room <= 2 ? "" : both.length <= room ? both : b.name.length <= room ? b.name : b.name.slice(0, room - 1) + "\u2026";
  }

  function zoom(b) {
    var from = b ? b.x : 0, size = b ? b.w : how.total, level = b ? b.level : 0;
    zoomed = b;
    boxes.forEach(function (one) {
      place(one, from, size);
      if (one.g) {
        one.g.classList.toggle("faint", one.level < level);
        one.g.classList.toggle("found", !!one.found);
      }
    });
    how.say(b ? b.full : null, b);
    how.remember(b ? boxes.indexOf(b) : -1);
    if (how.shown) how.shown(b);
  }

  // What matches, nested matches once: parents come before what they call.
  function search(words) {
    var sum = 0, until = -1, n = 0, re = null;
    try {
      re = words ? new RegExp(words, "i") : null;
    } catch (e) {
      how.say("no regular expression: " + words, null);
      return null;
    }
    boxes.forEach(function (b) {
      b.found = !!re && re.test(b.name);
      if (b.g) b.g.classList.toggle("found", b.found);
      n += b.found;
      if (b.found && b.x >= until) {
        sum += b.w;
        until = b.x + b.w;
      }
    });
    how.say(re ? n + " match, " + (100 * sum / how.total).toFixed(1) + " % together" : null, null);
    return { n: n, sum: sum };
  }

  svg.addEventListener("click", function (e) {
    var g = e.target.closest(".box");
    if (g) zoom(how.back && g.box === zoomed ? how.back(zoomed) : g.box);
  });
  svg.addEventListener("keydown", function (e) {
    var g = document.activeElement;
    if (e.key === "Enter" && g && g.classList.contains("box")) zoom(g.box);
  });
  boxes.forEach(function (b) { if (b.g) b.g.box = b; });
  return { zoom: zoom, search: search };
}

(function () {
  "use strict";
  var svg = document.querySelector("svg.flame[data-total]");
  if (!svg) return;
  var status = svg.querySelector(".status"), said = status.textContent;
  var field = document.querySelector("input.search");
  var boxes = Array.prototype.map.call(svg.querySelectorAll(".box"), function (g) {
    var full = g.querySelector("title").textContent;
    return { g: g, x: +g.dataset.x, w: +g.dataset.w, level: +g.dataset.l, full: full, name: full.slice(0, full.lastIndexOf(": ")),
             size: (/: ([^()]*?)(?: \(|, [\d.]+ %)/.exec(full.slice(full.lastIndexOf(": "))) || [])[1] };
  });
  var flame = memtoolFlame(svg, boxes, {
    width: +svg.dataset.width,
    total: +svg.dataset.total,
    say: function (text) { status.textContent = text || said; },
    remember: function (i) {
      try {
        history.replaceState(null, "", i >= 0 ? "#box=" + i : location.pathname);
      } catch (e) { /* a file in another frame */ }
    }
  });
  document.addEventListener("keydown", function (e) {
    if (e.key === "Escape") {
      flame.search("");
      if (field) field.value = "";
      flame.zoom(null);
    } else if ((e.key === "/" && document.activeElement !== field) || (e.key === "f" && (e.ctrlKey || e.metaKey))) {
      e.preventDefault();
      if (field) field.focus();
      else flame.search(prompt("Search (regular expression)") || "");
    }
  });
  if (field) field.addEventListener("input", function () { flame.search(field.value); });
  var state = /^#box=(\d+)$/.exec(location.hash);
  if (state && boxes[+state[1]]) flame.zoom(boxes[+state[1]]);
})();
