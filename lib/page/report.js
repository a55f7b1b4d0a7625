// What all parts of the page share: figures as memtool writes them, the state in the address, the
// colours, buttons that copy.
var memtool = (function () {
  "use strict";
  document.documentElement.classList.add("on");

  // Four digits, trailing zeros cut, as at the prompt.
  function four(v) {
    var digits = Math.max(0, 3 - Math.floor(Math.log10(Math.abs(v) || 1)));
    return String(+v.toFixed(Math.min(digits, 3)));
  }
  function grouped(n) { return String(n).replace(/\B(?=(\d{3})+$)/g, ","); }
  function scaled(v, base, units) {
    var i = 0, n = Math.abs(v);
    while (n >= base && i + 1 < units.length) { n /= base; i++; }
    var text = i ? four(n) : String(n);
    if (+text >= base && i + 1 < units.length) { text = "1"; i++; }
    return (v < 0 ? "-" : "") + (+text >= 1000 ? grouped(text) : text) + " " + units[i];
  }
  function size(b) { return scaled(b, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]); }
  function time(t, unit) {
    if (unit === "samples") return "sample " + grouped(t);
    if (unit && unit !== "ns") return grouped(t) + " " + unit;
    if (t >= 1e9) return four(t / 1e9) + " s";
    return scaled(t, 1000, ["ns", "us", "ms"]);
  }
  function exact(b) { return grouped(b) + " B"; }
  function percent(part, all) {
    var p = all ? 100 * part / all : 0;
    return p > 0 && p < 0.1 ? "< 0.1 %" : p.toFixed(1) + " %";
  }

  function element(name, attributes, parent, text) {
    var svg = /^(svg|g|rect|path|line|text|circle|defs|pattern|title)$/.test(name);
    var e = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
    for (var key in attributes || {}) e.setAttribute(key, attributes[key]);
    if (text !== undefined) e.textContent = text;
    if (parent) parent.appendChild(e);
    return e;
  }
  function say(text) { document.getElementById("say").textContent = text; }
  function data(id) {
    try { return JSON.parse(document.getElementById(id).textContent); } catch (e) { return null; }
  }
  function sums(differences) {
    var sum = 0;
    return differences.map(function (d) { return sum += d; });
  }
  // Toggle buttons, one of them pressed.
  function group(parent, names, pressed, choose) {
    var box = element("span", { class: "group", role: "group" }, parent);
    var all = names.map(function (name, i) {
      var b = element("button", { type: "button", "aria-pressed": String(i === pressed) }, box, name);
      b.addEventListener("click", function () {
        all.forEach(function (other) { other.setAttribute("aria-pressed", String(other === b)); });
        choose(i);
      });
      return b;
    });
    return all;
  }

  // The state of the page stands behind #, so that a link opens the same view.
  var state = {};
  location.hash.slice(1).split("&").forEach(function (part) {
    var at = part.indexOf("=");
    if (at > 0) try { state[part.slice(0, at)] = decodeURIComponent(part.slice(at + 1)); } catch (e) { /* no text */ }
  });
  function remember(key, value) {
    if (value === null || value === "") delete state[key];
    else state[key] = value;
    var all = Object.keys(state).map(function (k) { return k + "=" + encodeURIComponent(state[k]); });
    try { history.replaceState(null, "", all.length ? "#" + all.join("&") : location.pathname + location.search); } catch (e) { /* a file in a frame */ }
  }

  var themes = ["Auto", "Light", "Dark"], theme = document.getElementById("theme"), now = 0;
  theme.hidden = false;
  theme.setAttribute("aria-label", "Colours: auto");
  theme.addEventListener("click", function () {
    now = (now + 1) % themes.length;
    if (now) document.documentElement.dataset.theme = themes[now].toLowerCase();
    else delete document.documentElement.dataset.theme;
    theme.textContent = themes[now];
    theme.setAttribute("aria-label", "Colours: " + themes[now].toLowerCase());
  });

  document.addEventListener("click", function (e) {
    var b = e.target.closest && e.target.closest(".copy");
    if (!b) return;
    var code = b.parentNode.querySelector("code"), range = document.createRange();
    function done() { b.textContent = "Copied"; setTimeout(function () { b.textContent = "Copy"; }, 1500); }
    range.selectNodeContents(code);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).then(done, function () { });
    else if (document.execCommand("copy")) done();
  });

  var links = Array.prototype.slice.call(document.querySelectorAll("nav a"));
  // A link within the page leaves the state in the address alone; another state opened by hand is read.
  Array.prototype.forEach.call(document.querySelectorAll("a[href^='#']"), function (a) {
    a.addEventListener("click", function (e) {
      var to = document.getElementById(a.getAttribute("href").slice(1)), heading = to.querySelector("h2");
      e.preventDefault();
      to.scrollIntoView();
      heading.tabIndex = -1;
      heading.focus({ preventScroll: true });
    });
  });
  addEventListener("hashchange", function () { if (location.hash.indexOf("=") > 0) location.reload(); });
  function mark() {
    var here = links[0];
    links.forEach(function (a) {
      if (document.getElementById(a.getAttribute("href").slice(1)).getBoundingClientRect().top < 140) here = a;
    });
    links.forEach(function (a) { a.classList.toggle("here", a === here); });
  }
  addEventListener("scroll", mark, { passive: true });
  mark();

  return { size: size, time: time, exact: exact, percent: percent, grouped: grouped, element: element, say: say,
           data: data, sums: sums, group: group, state: state, remember: remember };
})();
