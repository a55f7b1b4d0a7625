// Call paths: a flame graph of any measure, callees or callers below, drawn by lib/flame/flame.js.
(function () {
  "use strict";
  var data = memtool.data("paths-data"), root = document.getElementById("flame-graph"), el = memtool.element;
  if (!data || !root) return;
  var ROW = 19, WORDS = { peak: root.dataset.alive, allocated: "Allocated", end: "At end", count: "Count", base: "In the base" };
  var KINDS = ["your code", "libraries", "PyTorch op", "backward", "native code", "no call path"];
  var n = data.level.length, parents = new Int32Array(n), open = [];
  for (var i = 0; i < n; i++) {
    parents[i] = data.level[i] ? open[data.level[i] - 1] : -1;
    open[data.level[i]] = i;
  }
  var measures = Object.keys(WORDS).filter(function (m) { return data.measures[m] && data.measures[m].length; });
  if (WORDS.peak === "Alive" && data.measures.peak && data.measures.peak.length) measures = measures.filter(function (m) { return m !== "end"; });
  if (!measures.length) return;
  root.textContent = ""; // the still picture
  var own = {};
  Object.keys(data.measures).forEach(function (m) {
    var values = own[m] = new Float64Array(n), at = 0, list = data.measures[m];
    for (var k = 0; k < list.length; k += 2) values[at += list[k]] = list[k + 1];
  });
  function hash(name) {
    var h = 5381;
    for (var k = 0; k < name.length; k++) h = (h * 33 + name.charCodeAt(k)) >>> 0;
    return h;
  }

  // What changed is told of both peaks: that of the run, and that of the base.
  function compares() { return own.base && own.peak && !inverted && (measure === "peak" || measure === "base"); }
  function change(b) { return measure === "base" ? b.node.other - b.w : b.w - b.node.other; }

  // A tree: nodes {name, kind, self, total, other, children}; other: of the run not shown, at its peak. Callees as recorded; or callers, each
  // function that holds something itself with what called it below.
  function node(name, kind) { return { name: name, kind: kind, self: 0, total: 0, count: 0, other: 0, children: [] }; }
  function callees(measure) {
    var all = node("all", -1), nodes = [], values = own[measure];
    for (var k = 0; k < n; k++) {
      var one = nodes[k] = node(data.names[data.name[k]], +data.kind[k]);
      one.self = values[k];
      one.order = own.peak ? own.peak[k] : values[k];
      (parents[k] < 0 ? all : nodes[parents[k]]).children.push(one);
      if (compares()) one.other = own[measure === "peak" ? "base" : "peak"][k];
    }
    for (k = n; k-- > 0;) {
      var to = parents[k] < 0 ? all : nodes[parents[k]];
      nodes[k].total += nodes[k].self;
      to.total += nodes[k].total;
      to.other += nodes[k].other;
      to.order = (to.order || 0) + nodes[k].order;
    }
    return all;
  }
  function callers(measure) {
    var all = node("all", -1), values = own[measure], MOST = 48;
    for (var k = 0; k < n; k++) {
      if (!values[k]) continue;
      var at = all, up = k;
      all.total += values[k];
      for (var depth = 0; up >= 0 && depth < MOST; up = parents[up], depth++) {
        var key = data.name[up];
        if (!at.below) at.below = new Map();
        var next = at.below.get(key);
        if (!next) {
          at.below.set(key, next = node(data.names[key], +data.kind[up]));
          at.children.push(next);
        }
        next.total += values[k];
        at = next;
      }
      at.self += values[k];
    }
    return all;
  }

  function lay(tree) {
    var boxes = [], stack = [[tree, 0, 0, null]];
    while (stack.length) {
      var top = stack.pop(), one = top[0], x = top[1], b = { x: x, w: one.total, level: top[2], name: one.name, node: one, g: null, up: top[3] };
      boxes.push(b);
      one.children.sort(function (p, q) { return (q.order || 0) - (p.order || 0) || q.total - p.total || (p.name < q.name ? -1 : 1); });
      var below = [];
      one.children.forEach(function (c) {
        if (c.total > 0) { below.push([c, x, top[2] + 1, b]); x += c.total; }
      });
      while (below.length) stack.push(below.pop());
    }
    return boxes;
  }

  var measure = measures.indexOf(memtool.state.m) >= 0 ? memtool.state.m : measures[0], inverted = memtool.state.inv === "1", changed = false;
  var flame, boxes, total, svg;
  var tools = el("div", { class: "tools" }, root), panel = el("div", { class: "panel" }, root), legend = el("ul", { class: "key" }, root);
  var crumbs = el("div", { class: "crumbs" }, panel), told = el("div", { class: "told" }, panel), picture = el("div", {}, panel);
  function figure(v) { return measure === "count" ? memtool.grouped(v) + (v === 1 ? " block" : " blocks") : memtool.size(v); }
  function tell(b) {
    told.textContent = "";
    el("b", {}, told, b.name);
    var line = figure(b.w) + (measure === "count" ? "" : " (" + memtool.exact(b.w) + ")") + " \u00b7 " + memtool.percent(b.w, total) + " of all";
    if (b.node.self) line += " \u00b7 itself " + figure(b.node.self);
    if (compares())
      line += (measure === "base" ? " \u00b7 now " : " \u00b7 before ") + figure(b.node.other) + " (" + (change(b) > 0 ? "+" : "") + memtool.size(change(b)) + ")";
    el("span", {}, told, line);
  }
  function trail(b) {
    crumbs.textContent = "";
    if (!b || !b.up) { crumbs.textContent = "Click a frame to zoom"; return; }
    for (var list = []; b; b = b.up) list.unshift(b);
    list.forEach(function (one, k) {
      if (k > 2 && k < list.length - 4) { if (k === 3) crumbs.append("\u2026 \u203a "); return; }
      el("button", { type: "button" }, crumbs, one.name.length > 36 ? one.name.slice(0, 35) + "\u2026" : one.name)
        .addEventListener("click", function () { flame.zoom(one.up ? one : boxes[0]); });
      if (k + 1 < list.length) crumbs.append(" \u203a ");
    });
  }
  function color(b) {
    if (b.node.kind < 0) return ["fall", 1];
    if (!changed || !compares()) return ["f" + b.node.kind, 1 - hash(b.name) % 5 * 0.085];
    var more = change(b), share = Math.min(1, Math.abs(more) / Math.max(boxes[0].w, boxes[0].node.other, 1) * 5);
    return [more > 0 ? "more" : more < 0 ? "less" : "fall", more ? 0.35 + 0.65 * share : 1];
  }
  function make(b) {
    var g = el("g", { class: "box", tabindex: b.room > 4 ? 0 : -1 }, svg), c = color(b), fill = { more: "var(--more-fill)", less: "var(--less-fill)" }[c[0]];
    var rect = el("rect", { y: b.level * ROW, height: ROW - 1, rx: 1.5, class: fill ? "" : c[0] }, g);
    rect.style.fillOpacity = c[1];
    if (fill) rect.style.fill = fill;
    if (b.found) g.classList.add("found");
    if (b.room > 4) { g.setAttribute("role", "button"); g.setAttribute("aria-label", b.name + ": " + figure(b.w)); }
    return g;
  }
  function shown(b) {
    var deep = 0;
    boxes.forEach(function (one) { if (one.g && one.room >= 4 && !one.g.classList.contains("gone")) deep = Math.max(deep, one.level + 1); });
    svg.style.height = deep * ROW + 8 + "px";
    svg.setAttribute("viewBox", "0 0 " + svg.how + " " + (deep * ROW + 8));
    trail(b);
    tell(b || boxes[0]);
  }
  function names(b) {
    for (var list = []; b && b.up; b = b.up) list.unshift(b.name);
    return list.join("\u0001");
  }
  function draw() {
    var wide = Math.max(panel.clientWidth - 16, 240);
    picture.textContent = "";
    boxes = lay(inverted ? callers(measure) : callees(measure));
    total = boxes[0].w;
    svg = el("svg", { class: "flame", role: "application", "aria-label": "Flame graph: Tab walks, Enter zooms, Escape goes back out, slash searches" }, picture);
    svg.how = wide;
    svg.style.margin = "0 7px 8px";
    svg.style.width = wide + "px";
    flame = memtoolFlame(svg, boxes, {
      width: wide, total: total, make: make, shown: shown,
      say: function (text) { if (text) memtool.say(text); },
      back: function (b) { return b.up; },
      remember: function (k) { memtool.remember("z", k > 0 ? names(boxes[k]) : null); }
    });
    boxes.forEach(function (b) { b.full = b.name + ": " + figure(b.w); });
    svg.addEventListener("pointerover", function (e) { var g = e.target.closest(".box"); if (g) tell(g.box); });
    svg.addEventListener("focusin", function (e) { if (e.target.box) { tell(e.target.box); memtool.say(e.target.box.full); } });
    var want = memtool.state.z, at = null;
    if (want) boxes.forEach(function (b) { if (!at && names(b) === want) at = b; });
    flame.zoom(at);
    find();
    keys();
  }
  function keys() {
    legend.textContent = "";
    if (changed && compares()) {
      [["more-fill", "holds more than in the base"], ["less-fill", "holds less"]].forEach(function (k) { var li = el("li", {}, legend); el("i", { style: "background:var(--" + k[0] + ")" }, li); li.append(k[1]); });
      return;
    }
    KINDS.forEach(function (name, k) {
      if (!boxes.some(function (b) { return b.node.kind === k; })) return;
      var li = el("li", {}, legend);
      el("i", { class: "f" + k }, li);
      li.append(name);
    });
  }
  var field, matched;
  function find() {
    var found = flame.search(field.value);
    field.classList.toggle("bad", !found);
    matched.textContent = field.value && found ? memtool.percent(found.sum, total) + " matched \u00b7 " + figure(found.sum) + " in " + memtool.grouped(found.n) + (found.n === 1 ? " frame" : " frames") : field.value ? "no regular expression" : "";
  }

  memtool.group(tools, measures.map(function (m) { return WORDS[m]; }), measures.indexOf(measure), function (k) {
    measure = measures[k];
    memtool.remember("m", k ? measure : null);
    draw();
    prompt();
  });
  memtool.group(tools, ["Callees", "Callers"], inverted ? 1 : 0, function (k) {
    inverted = !!k;
    memtool.remember("inv", k ? "1" : null);
    memtool.remember("z", null);
    draw();
    prompt();
  });
  if (own.base) memtool.group(tools, ["Kind", "Change"], 0, function (k) { changed = !!k; draw(); });
  var right = el("span", { class: "right" }, tools);
  matched = el("span", {}, right);
  field = el("input", { type: "search", placeholder: "Search names   /", "aria-label": "Search names, a regular expression", value: memtool.state.q || "" }, right);
  field.addEventListener("input", function () { memtool.remember("q", field.value); find(); });
  document.addEventListener("keydown", function (e) {
    var typing = /^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName);
    if (e.key === "/" && !typing) { e.preventDefault(); field.focus(); }
    else if (e.key === "Escape" && (document.activeElement === field || root.contains(document.activeElement))) { field.value = ""; memtool.remember("q", null); find(); flame.zoom(null); }
  });
  var code = root.parentNode.querySelector(".prompt code"), plain = code && code.textContent;
  function prompt() {
    var words = { peak: WORDS.peak === "Alive" ? "alive" : "at-peak", allocated: "allocated", end: "at-end", count: "count" };
    if (code) code.textContent = (measure === "base" ? root.dataset.base : plain) + " --measure " + (words[measure] || words.peak) + (inverted ? " --invert" : "");
  }
  draw();
  prompt();
  var old = panel.clientWidth;
  addEventListener("resize", function () { if (panel.clientWidth !== old) { old = panel.clientWidth; draw(); } });
})();
