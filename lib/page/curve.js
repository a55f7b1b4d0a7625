// Memory over time: what it consisted of at each moment, zoom, and what was alive at a chosen one.
(function () {
  "use strict";
  var data = memtool.data("curve-data"), panel = document.getElementById("curve"), el = memtool.element;
  if (!data || !panel || !data.t.length) return;
  var LEFT = 74, RIGHT = 14, TOP = 34, STRIP = 34;
  var t = memtool.sums(data.t), b = memtool.sums(data.b), n = t.length, dur = Math.max(data.dur, 1);
  var starts = data.whole ? t.slice() : t.map(function (_, i) { return i * dur / n; });
  starts.push(dur);
  var top = 0;
  b.forEach(function (v, i) { if (v > b[top]) top = i; });
  var most = b[top];
  if (data.second) data.second.of.forEach(function (p) { most = Math.max(most, p[1]); });
  var ORDER = ["[before trace]", "parameter", "optimizer state", "input", "gradient", "activation", "activation (recomputed)", "activation (kept)", "autograd detail", "temporary"];
  function css(name) { return colors[name] || "k-" + name.replace(/[^a-z ]/g, "").replace(/ /g, "-"); }

  // Of each part its bytes at all moments; of each category the sum of its parts. Logs that know no
  // single blocks know their parts at moments of their own.
  var held = data.held, known = held || data, heldT = held && memtool.sums(held.t), heldB = held && memtool.sums(held.b);
  var m = held ? heldT.length : n;
  var parts = (known.parts || []).map(function (p) {
    var bytes = new Float64Array(m), at = 0, v = 0, changes = p[2];
    for (var i = 0; i < changes.length; i += 2) {
      for (var to = at + changes[i]; at < to; at++) bytes[at] = v;
      v = changes[i + 1];
    }
    for (; at < m; at++) bytes[at] = v;
    return { site: known.sites[p[0]], category: known.categories[p[1]], bytes: bytes };
  });
  // The moment whose parts are known: the same one, or the last before it; -1: none is.
  function partsAt(i) {
    if (!held) return i;
    var k = m - 1;
    while (k >= 0 && heldT[k] > t[i]) k--;
    return k;
  }
  var kinds = [];
  if (!held) parts.forEach(function (p) {
    var kind = kinds.find(function (k) { return k.name === p.category; });
    if (!kind) kinds.push(kind = { name: p.category, bytes: new Float64Array(n) });
    for (var i = 0; i < n; i++) kind.bytes[i] += p.bytes[i];
  });
  function rank(k) { var r = ORDER.indexOf(k.name); return r < 0 ? 99 : r; }
  kinds.sort(function (x, y) { return rank(x) - rank(y); });
  var stacked = kinds.some(function (k) { return k.name && k.name[0] !== "["; });

  // Without categories the sites that hold most over time have colours of their own.
  var SITES = 8, colors = {}, byWhat = "By category";
  if (!stacked && !held && parts.length > 1) {
    byWhat = "By site";
    stacked = true;
    var heavy = parts.map(function (p) { return { name: p.site, bytes: p.bytes, sum: p.bytes.reduce(function (v, w) { return v + w; }, 0) }; });
    heavy.sort(function (x, y) { return (y.name === "[before trace]") - (x.name === "[before trace]") || y.sum - x.sum; });
    kinds = heavy.slice(0, SITES);
    if (heavy.length > SITES) {
      var rest = { name: "[other]", bytes: new Float64Array(n) };
      heavy.slice(SITES).forEach(function (h) { for (var i = 0; i < n; i++) rest.bytes[i] += h.bytes[i]; });
      kinds.push(rest);
    }
    kinds.forEach(function (k, i) { if (k.name[0] !== "[") colors[k.name] = "s" + i; });
    parts.forEach(function (p) { p.category = colors[p.site] || p.site === "[before trace]" ? p.site : "[other]"; });
  }

  var view = [0, dur], cursor = -1, chosen = -1, byCategory = stacked, width, height, drag = null, svg, over;
  var tip = el("div", { class: "tip" });
  function high() { return panel.clientWidth < 560 ? 250 : 320; }
  function X(time) { return LEFT + (time - view[0]) / (view[1] - view[0]) * (width - LEFT - RIGHT); }
  function timeAt(x) { return view[0] + (x - LEFT) / (width - LEFT - RIGHT) * (view[1] - view[0]); }
  function Y(bytes) { return height - bytes / most * (height - TOP); }
  function clip(x) { return Math.min(Math.max(x, LEFT), width - RIGHT); }
  function stepAt(time) {
    var s = null;
    data.steps.forEach(function (one) { if (one[1] <= time) s = one; });
    return s ? " \u00b7 step " + s[0] : "";
  }

  // The outline of values at the moments in view: level, then across to the next.
  function outline(value) {
    var d = "", first = true;
    for (var i = 0; i < n; i++) {
      if (starts[i + 1] < view[0] || starts[i] > view[1]) continue;
      var x = clip(X(starts[i])).toFixed(1), y = Y(value(i)).toFixed(1);
      d += (first ? "M" + x + " " + y : "H" + x + "V" + y);
      first = false;
    }
    return first ? "" : d + "H" + clip(X(view[1])).toFixed(1);
  }
  function area(low, value) {
    var up = outline(value), down = [];
    if (!up) return "";
    for (var i = 0; i < n; i++)
      if (!(starts[i + 1] < view[0] || starts[i] > view[1]))
        down.push([clip(X(starts[i])).toFixed(1), clip(X(Math.min(starts[i + 1], view[1]))).toFixed(1), Y(low[i]).toFixed(1)]);
    return up + down.reverse().map(function (p) { return "V" + p[2] + "H" + p[0]; }).join("") + "z";
  }

  function ticks() {
    var step = Math.pow(2, Math.floor(Math.log2(Math.max(most, 1) / 4)));
    if (most / step > 7) step *= 2;
    for (var v = 0; v <= most; v += step) {
      el("line", { class: v ? "grid" : "axis", x1: LEFT, x2: width - RIGHT, y1: Y(v), y2: Y(v) }, svg);
      el("text", { x: LEFT - 8, y: Y(v) + 4, "text-anchor": "end" }, svg, v ? memtool.size(v) : "0");
    }
    var span = (view[1] - view[0]) / Math.max(2, Math.min(8, (width - LEFT) / 120)), unit = Math.pow(10, Math.floor(Math.log10(span)));
    var each = [1, 2, 5, 10].map(function (m) { return m * unit; }).find(function (s) { return s >= span; });
    for (var at = Math.ceil(view[0] / each) * each; at <= view[1]; at += each)
      el("text", { x: X(at), y: height + 17, "text-anchor": at === 0 ? "start" : X(at) > width - 60 ? "end" : "middle" }, svg, at ? memtool.time(+at.toPrecision(12), data.unit) : "0");
  }

  function stepBand() {
    if (!data.steps.length) return;
    el("rect", { class: "stepband", x: LEFT, y: height + 24, width: width - LEFT - RIGHT, height: 16, rx: 2 }, svg);
    var last = -99;
    data.steps.forEach(function (s, i) {
      var from = X(s[1]), to = X(i + 1 < data.steps.length ? data.steps[i + 1][1] : dur), mid = (clip(from) + clip(to)) / 2;
      if (to < LEFT || from > width - RIGHT) return;
      if (from >= LEFT) el("line", { class: "stepline", x1: from, x2: from, y1: TOP, y2: height + 40 }, svg);
      if (mid - last < 26) return;
      last = mid;
      el("text", { x: mid, y: height + 36, "text-anchor": "middle" }, svg, (i ? "" : "step ") + s[0]);
    });
  }

  function second() {
    if (!data.second) return;
    var d = "", y = 0, label = null;
    data.second.of.forEach(function (p) {
      if (p[0] > view[1]) return;
      var x = clip(X(p[0])).toFixed(1);
      y = Y(p[1]).toFixed(1);
      d += d ? "H" + x + "V" + y : "M" + x + " " + y;
      if (!label && X(p[0]) > width * 0.3) label = [X(p[0]), y - 6];
    });
    el("path", { class: "second", d: d + "H" + clip(X(view[1])) }, svg);
    el("text", { x: label ? label[0] : LEFT + 8, y: label ? label[1] : y - 6 }, svg, data.second.what);
  }

  // Words beside a place: on the right of it where there is room, else on the left, and never beyond the picture.
  function beside(x, y, gap, cls, words) {
    var text = el("text", { class: cls, y: y }, svg, words), w = text.getComputedTextLength();
    var at = x + gap + w <= width - 4 ? x + gap : x - gap - w;
    text.setAttribute("x", Math.max(at, 4).toFixed(1));
  }
  function marks() {
    data.oom.forEach(function (o, i) {
      var x = X(o[0]);
      if (x < LEFT || x > width - RIGHT + 1) return;
      el("line", { class: "oom", x1: x, x2: x, y1: TOP - 8, y2: height }, svg);
      if (!i) beside(x, TOP - 20, 0, "oom-text", "out of memory: asked for " + memtool.size(o[1]));
    });
    if (data.peak === undefined) return;
    var px = X(t[top]), py = Math.max(Y(b[top]) - 7, 12);
    if (px < LEFT || px > width - RIGHT + 1) return;
    el("text", { class: "peak", x: px, y: py, "text-anchor": "middle" }, svg, "\u25bc");
    beside(px, py, 9, "peak", "peak " + memtool.size(b[top]) + " at " + memtool.time(t[top], data.unit));
  }

  function strip() {
    var y = height + (data.steps.length ? 50 : 30), d = "", scale = (width - LEFT - RIGHT) / dur;
    el("rect", { class: "well", x: LEFT, y: y, width: width - LEFT - RIGHT, height: STRIP, rx: 3 }, svg);
    for (var i = 0; i < n; i++) {
      var x = (LEFT + starts[i] * scale).toFixed(1), v = (y + STRIP - b[i] / most * (STRIP - 3)).toFixed(1);
      d += d ? "H" + x + "V" + v : "M" + LEFT + " " + (y + STRIP) + "H" + x + "V" + v;
    }
    el("path", { class: "whole", d: d + "H" + (width - RIGHT) + "V" + (y + STRIP) + "z" }, svg);
    el("text", { x: LEFT - 8, y: y + STRIP / 2 + 4, "text-anchor": "end" }, svg, "whole");
    if (view[0] > 0 || view[1] < dur)
      el("rect", { class: "frame", x: LEFT + view[0] * scale, y: y, width: Math.max((view[1] - view[0]) * scale, 2), height: STRIP, rx: 3 }, svg);
    return y + STRIP + 12;
  }

  function draw() {
    width = Math.max(panel.clientWidth, 280);
    height = high() - 20;
    panel.textContent = "";
    svg = el("svg", { tabindex: 0, role: "slider", "aria-label": "Moment of the run; arrow keys move, Enter chooses, plus and minus zoom", "aria-valuemin": 0, "aria-valuemax": n - 1 }, panel);
    var defs = el("defs", {}, svg), p = el("pattern", { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, defs);
    el("rect", { width: 6, height: 6, class: "k-before-trace" }, p);
    el("line", { y2: 6, stroke: "var(--hatch)", "stroke-width": 2 }, p);
    ticks();
    var low = new Float64Array(n), used = [];
    if (byCategory)
      kinds.forEach(function (k) {
        var sum = low.map(function (v, i) { return v + k.bytes[i]; });
        used.push([k, low, sum]);
        low = sum;
      });
    used.forEach(function (u) {
      el("path", { class: u[0].name === "[before trace]" ? "hatched" : css(u[0].name), d: area(u[1], function (i) { return u[2][i]; }) }, svg);
    });
    if (!byCategory) {
      el("path", { class: "under", d: area(low, function (i) { return b[i]; }) }, svg);
      el("path", { class: "level", d: outline(function (i) { return b[i]; }) }, svg);
    }
    second();
    stepBand();
    marks();
    var all = strip();
    over = el("g", {}, svg);
    svg.setAttribute("viewBox", "0 0 " + width + " " + all);
    svg.style.height = all + "px";
    panel.appendChild(tip);
    point(cursor, false);
    listen();
  }

  function point(i, told) {
    over.textContent = "";
    if (chosen >= 0 && X(t[chosen]) >= LEFT)
      el("line", { class: "chosen", x1: X(t[chosen]), x2: X(t[chosen]), y1: TOP, y2: height }, over);
    if (drag) el("rect", { class: "drag", x: clip(Math.min(drag[0], drag[1])), y: TOP, width: Math.abs(clip(drag[1]) - clip(drag[0])), height: height - TOP }, over);
    cursor = i;
    tip.hidden = i < 0 || !!drag || !told;
    if (i < 0) return;
    var x = clip(X(t[i]));
    el("line", { class: "cursor", x1: x, x2: x, y1: TOP, y2: height }, over);
    el("circle", { class: "dot", cx: x, cy: Y(b[i]), r: 4 }, over);
    svg.setAttribute("aria-valuenow", i);
    svg.setAttribute("aria-valuetext", memtool.size(b[i]) + " at " + memtool.time(t[i], data.unit));
    if (tip.hidden) return;
    tip.textContent = "";
    var head = el("p", {}, tip);
    el("b", { title: memtool.exact(b[i]) }, head, memtool.size(b[i]));
    head.append(" at " + memtool.time(t[i], data.unit) + stepAt(t[i]));
    if (stacked) kinds.slice().reverse().forEach(function (k) {
      if (!k.bytes[i]) return;
      var row = el("div", {}, tip), name = el("span", {}, row);
      el("i", { class: "sw " + css(k.name) }, name);
      name.append(k.name.length > 34 ? k.name.slice(0, 33) + "\u2026" : k.name);
      el("span", {}, row, memtool.size(k.bytes[i]));
    });
    if (data.second) {
      var at = null;
      data.second.of.forEach(function (p) { if (p[0] <= t[i]) at = p[1]; });
      if (at !== null) { var r = el("div", {}, tip); el("span", {}, r, data.second.what); el("span", {}, r, memtool.size(at)); }
    }
    tip.style.left = (x + 200 > width ? x - tip.offsetWidth - 14 : x + 14) + "px";
    tip.style.top = TOP + "px";
  }

  // The highest moment within 2 pixels, so that spikes can be hit; else the one under way.
  function near(x) {
    var from = timeAt(x - 2), to = timeAt(x + 2), best = -1, under = 0;
    for (var i = 0; i < n; i++) {
      if (starts[i] <= timeAt(x)) under = i;
      if (starts[i] >= from && starts[i] <= to && (best < 0 || b[i] > b[best])) best = i;
    }
    return best < 0 ? under : best;
  }
  function zoomTo(from, to) {
    var least = dur / 1e6;
    view = [Math.max(0, from), Math.min(dur, Math.max(to, from + least))];
    memtool.remember("v", view[0] > 0 || view[1] < dur ? Math.round(view[0]) + "-" + Math.round(view[1]) : null);
    whole.hidden = !(view[0] > 0 || view[1] < dur);
    draw();
  }
  function zoomBy(factor, at) { zoomTo(at - (at - view[0]) * factor, at + (view[1] - at) * factor); }

  function listen() {
    function xOf(e) { return e.clientX - svg.getBoundingClientRect().left; }
    svg.addEventListener("pointermove", function (e) {
      if (drag && drag.length) drag[1] = xOf(e);
      point(near(xOf(e)), true);
    });
    svg.addEventListener("pointerleave", function () { if (!drag) point(-1, false); });
    svg.addEventListener("pointerdown", function (e) { if (e.button === 0 && e.pointerType === "mouse") { drag = [xOf(e), xOf(e)]; svg.setPointerCapture(e.pointerId); } });
    svg.addEventListener("pointerup", function (e) {
      var d = drag;
      drag = null;
      if (d && Math.abs(d[1] - d[0]) > 6) zoomTo(timeAt(Math.min(clip(d[0]), clip(d[1]))), timeAt(Math.max(clip(d[0]), clip(d[1]))));
      else choose(near(xOf(e)));
    });
    svg.addEventListener("dblclick", function () { zoomTo(0, dur); });
    svg.addEventListener("wheel", function (e) {
      if (!e.ctrlKey && !e.metaKey) return;
      e.preventDefault();
      zoomBy(e.deltaY > 0 ? 1.25 : 0.8, timeAt(xOf(e)));
    }, { passive: false });
    svg.addEventListener("keydown", function (e) {
      var far = e.shiftKey ? 20 : 1, i = cursor < 0 ? top : cursor;
      var keys = { ArrowRight: function () { i += far; }, ArrowLeft: function () { i -= far; }, Home: function () { i = 0; }, End: function () { i = n - 1; }, p: function () { i = top; } };
      if (keys[e.key]) {
        keys[e.key]();
        i = Math.min(Math.max(i, 0), n - 1);
        if (t[i] < view[0] || t[i] > view[1]) view = [0, dur];
        point(i, true);
      } else if (e.key === "Enter") choose(i);
      else if (e.key === "+" || e.key === "=") refocus(function () { zoomBy(0.5, t[i]); });
      else if (e.key === "-") refocus(function () { zoomBy(2, t[i]); });
      else if (e.key === "0" || e.key === "Escape") refocus(function () { zoomTo(0, dur); });
      else return;
      e.preventDefault();
    });
  }
  function refocus(act) { act(); svg.focus(); }

  // ---- what was alive at the chosen moment ----

  var alive = document.getElementById("alive"), heading = alive && alive.querySelector("h2"), usual = heading && heading.textContent;
  var box = el("div", { class: "moment" });
  var prompt = alive && alive.querySelector(".prompt code");
  function others(hide) {
    Array.prototype.forEach.call(alive.children, function (c) { if (c !== heading && c !== box) c.hidden = hide; });
  }
  function choose(i) {
    if (!alive) return;
    chosen = i === top ? -1 : i;
    memtool.remember("t", chosen < 0 ? null : String(t[i]));
    box.textContent = "";
    others(chosen >= 0);
    heading.textContent = chosen < 0 ? usual : "Alive at " + memtool.time(t[i], data.unit);
    if (chosen >= 0) fill(i);
    memtool.say(heading.textContent + ", " + memtool.size(b[i]));
    point(cursor, !tip.hidden);
  }
  function cannot() {
    var c = el("div", { class: "cannot" }, box), words = el("div", {}, c);
    c.insertBefore(el("b", { class: "ring", "aria-hidden": "true" }, null, "?"), words);
    el("h3", {}, words, "Cannot tell: the file does not say who held memory " + (held ? "so early" : "then"));
    el("p", {}, words, held ? "The first moment of which it does is " + memtool.time(heldT[0], data.unit) + "." :
      "It says how much was in use over time, and what call paths held at the peak or at the end alone.");
  }
  function fill(i) {
    var say = el("p", { class: "say" }, box), tools = el("div", { class: "tools" }, box), all = {}, list = [];
    var k = partsAt(i), then = held ? heldB.indexOf(Math.max.apply(null, heldB)) : top, level = held && k >= 0 ? heldB[k] : b[i];
    el("b", { title: memtool.exact(level) }, say, memtool.size(level));
    say.append(stepAt(t[i]).replace(" \u00b7", ", in") + ": " + memtool.size(b[top] - level) + " below the peak." +
      (held && k >= 0 ? " As of " + memtool.time(heldT[k], data.unit) + ": what call paths held is known at " + memtool.grouped(m) + " moments." : data.whole ? "" : " The moment is the highest of its span."));
    el("button", { type: "button", class: "plain" }, tools, "Back to the peak").addEventListener("click", function () { choose(top); });
    if (!parts.length || k < 0) return cannot();
    parts.forEach(function (p) {
      var key = p.site, row = all[key];
      if (!row) list.push(row = all[key] = { site: p.site, now: 0, then: 0, kinds: [] });
      row.now += p.bytes[k];
      row.then += then < 0 ? 0 : p.bytes[then];
      if (p.bytes[k] > 0) row.kinds.push([p.category, p.bytes[k]]);
    });
    list = list.filter(function (r) { return r.now || r.then; }).sort(function (x, y) { return y.now - x.now || y.then - x.then; });
    var panel2 = el("div", { class: "panel" }, box), table = el("table", {}, panel2), head = el("tr", {}, el("thead", {}, table)), body = el("tbody", {}, table);
    el("caption", {}, table, heading.textContent);
    [["Alive", "n"], ["Share", "n c-share"], ["Against the peak", "n c-before"], ["", "t c-bars"], ["Allocated in", "t"]].forEach(function (c) { el("th", { scope: "col", class: c[1] }, head, c[0]); });
    list.slice(0, 60).forEach(function (r) {
      var tr = el("tr", {}, body), change = r.now - r.then;
      el("td", { class: "n", title: memtool.exact(r.now), "data-v": r.now }, tr, memtool.size(r.now));
      el("td", { class: "n c-share" }, tr, memtool.percent(r.now, level));
      el("td", { class: "n c-before", title: memtool.exact(change) }, tr, change ? (change > 0 ? "+" : "") + memtool.size(change) : "=");
      var bars = el("span", { class: "bars" }, el("td", { class: "t c-bars" }, tr));
      r.kinds.forEach(function (k) { el("i", { class: k[0] ? css(k[0]) : "k-total", style: "width:" + (100 * k[1] / list[0].now).toFixed(1) + "%" }, bars); });
      var name = el("td", { class: "t c-site" }, tr, r.site);
      r.kinds.forEach(function (k) {
        if (!k[0] || byWhat !== "By category") return;
        var s = el("small", {}, name);
        s.append(" ");
        el("i", { class: "sw " + css(k[0]) }, s);
        s.append(k[0]);
      });
    });
    if (list.length > 60) el("div", { class: "rest" }, panel2, (list.length - 60) + " smaller rows are not shown.");
    else el("div", { class: "rest" }, panel2, memtool.size(level) + " (" + memtool.exact(level) + "): all that was alive, to the byte.");
    if (prompt) {
      var at = el("p", { class: "prompt" }, box, "At the prompt ");
      el("code", {}, at, prompt.textContent + " --at " + t[i]);
      at.append(" ");
      el("button", { type: "button", class: "copy" }, at, "Copy");
    }
  }

  // The table of what is alive at the peak: bars by category, and their names.
  function paint() {
    var sites = {}, first = alive && alive.querySelector(".tab"), rows = first ? first.querySelectorAll("tbody tr") : [];
    if (!stacked) return;
    parts.forEach(function (p) { if (p.bytes[top] > 0) (sites[p.site] = sites[p.site] || []).push([p.category, p.bytes[top]]); });
    Array.prototype.forEach.call(rows, function (row) {
      var cell = row.querySelector(".c-site"), bar = row.querySelector(".bar"), kinds = cell && sites[cell.textContent];
      var sum = (kinds || []).reduce(function (v, k) { return v + k[1]; }, 0);
      if (!kinds || !bar || sum !== +row.querySelector(".c-at_peak_b").dataset.v) return; // a site in two phases
      kinds.sort(function (x, y) { return y[1] - x[1]; });
      bar.classList.add("multi");
      var words = el("small", {}, cell);
      kinds.forEach(function (k) {
        el("i", { class: css(k[0]), style: "flex:" + k[1] / sum }, bar);
        if (byWhat !== "By category") return;
        el("i", { class: "sw " + css(k[0]) }, words);
        words.append(k[0]);
      });
    });
  }
  paint();

  var section = panel.parentNode, tools = el("div", { class: "tools" }), whole;
  section.insertBefore(el("p", { class: "say" }, null,
    (data.whole ? "Every change is drawn." : memtool.grouped(n) + " moments, the highest of each span of " + memtool.time(Math.round(dur / n), data.unit) + ", of " + memtool.grouped(data.records) + " records.") +
    " Point to read, " + (alive ? "click to see what was alive then, " : "") + "drag to zoom."), panel);
  section.insertBefore(tools, panel);
  if (byWhat === "By site") {
    var legend = el("ul", { class: "key" });
    section.insertBefore(legend, panel.nextSibling);
    kinds.forEach(function (k) { var li = el("li", {}, legend); el("i", { class: css(k.name) }, li); li.append(k.name); });
  }
  var code = section.querySelector(".prompt code"), plain = code && code.textContent;
  function command() { if (code) code.textContent = plain + (byCategory ? " --" + byWhat.toLowerCase() : ""); }
  if (stacked) memtool.group(tools, [byWhat, "Total"], 0, function (i) { byCategory = !i; draw(); command(); });
  command();
  var right = el("span", { class: "right" }, tools), keys = el("span", { class: "keys" }, right);
  [["\u2190"], ["\u2192", " move \u00b7 "], ["Enter", " choose \u00b7 "], ["P", " peak \u00b7 "], ["+"], ["-", " zoom"]].forEach(function (k) { el("kbd", {}, keys, k[0]); keys.append(k[1] || " "); });
  whole = el("button", { type: "button", class: "plain" }, right, "Whole run");
  whole.hidden = true;
  whole.addEventListener("click", function () { zoomTo(0, dur); });
  if (alive) alive.insertBefore(box, heading.nextSibling);
  var v = /^(\d+)-(\d+)$/.exec(memtool.state.v || "");
  if (v && +v[2] > +v[1]) { view = [+v[1], Math.min(+v[2], dur)]; whole.hidden = false; }
  draw();
  if (memtool.state.t !== undefined) {
    var k = t.indexOf(+memtool.state.t);
    if (k >= 0) choose(k);
  }
  var old = panel.clientWidth;
  addEventListener("resize", function () { if (panel.clientWidth !== old) { old = panel.clientWidth; draw(); } });
  addEventListener("beforeprint", function () { point(-1, false); });
})();
