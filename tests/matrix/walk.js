// Walks a page of `memtool report` by keyboard alone: what it found is in the attribute data-walk of the page, as JSON.
addEventListener("load", function () {
  "use strict";
  var found = { stops: 0, nameless: [], deaf: [], missed: [] }, all = document.documentElement;
  function one(query) { return document.querySelector(query); }
  function press(key) {
    (document.activeElement || document.body).dispatchEvent(new KeyboardEvent("keydown", { key: key, bubbles: true, cancelable: true }));
  }
  function must(holds, what) { if (!holds) found.missed.push(what); }
  function name(e) {
    var label = e.id && one("label[for='" + e.id + "']");
    return (e.getAttribute("aria-label") || e.textContent || (label && label.textContent) || "").trim();
  }

  function stops() {
    document.querySelectorAll("a[href],button,input,summary,[tabindex='0']").forEach(function (e) {
      if (!e.getClientRects().length || e.disabled) return;
      found.stops++;
      e.focus();
      if (document.activeElement !== e) found.deaf.push(e.outerHTML.slice(0, 90));
      if (!name(e)) found.nameless.push(e.outerHTML.slice(0, 90));
    });
  }
  function skip() {
    one("a.skip").focus();
    one("a.skip").click();
    must(document.activeElement.tagName === "H2", "the skip link goes to a section");
  }
  function curve() {
    var slider = one("#curve [role=slider]"), first;
    if (!slider) return;
    slider.focus();
    press("Home");
    first = slider.getAttribute("aria-valuenow");
    press("ArrowRight");
    must(first && slider.getAttribute("aria-valuenow") !== first, "arrows move on the curve");
    press("p");
    first = slider.getAttribute("aria-valuenow");
    press("ArrowLeft");
    must(slider.getAttribute("aria-valuenow") !== first, "P goes to the peak");
    press("Enter");
    must(one(".moment").textContent.indexOf("below the peak") > 0, "Enter chooses a moment");
    press("+");
    must(document.activeElement.getAttribute("role") === "slider", "zooming keeps the place");
    press("Escape");
  }
  function words() {
    [340, 420, 700, innerWidth].forEach(function (width) {
      document.body.style.width = width + "px";
      dispatchEvent(new Event("resize"));
      var svg = one("#curve svg"), room = svg && svg.getBoundingClientRect();
      if (svg) svg.querySelectorAll("text").forEach(function (e) {
        var box = e.getBoundingClientRect();
        must(box.left >= room.left - 1 && box.right <= room.right + 1, "a curve of " + width + " px has room for '" + e.textContent + "'");
      });
    });
    document.body.style.width = "";
    dispatchEvent(new Event("resize"));
    must(all.scrollWidth <= innerWidth, "nothing is wider than the page");
  }
  function paths() {
    var boxes = document.querySelectorAll("#flame-graph .box[tabindex='0']"), crumbs = one("#flame-graph .crumbs");
    if (boxes.length < 2) return;
    boxes[1].focus();
    press("Enter");
    must(crumbs.querySelector("button"), "Enter zooms into a call path");
    press("Escape");
    must(!crumbs.querySelector("button"), "Escape goes back");
    press("/");
    must(document.activeElement.type === "search", "a slash searches");
  }
  function tables() {
    var sort = one("section .panel th button"), th = sort && sort.parentNode;
    if (!sort) return;
    sort.focus();
    sort.click();
    must(th.getAttribute("aria-sort"), "a head sorts");
  }
  function theme() {
    var button = one("#theme"), before = button.getAttribute("aria-label");
    button.click();
    must(button.getAttribute("aria-label") !== before, "colours can be chosen");
  }
  [stops, skip, curve, words, paths, tables, theme].forEach(function (part) {
    try { part(); } catch (e) { must(false, part.name + ": " + e); }
  });
  all.dataset.walk = JSON.stringify(found);
});
