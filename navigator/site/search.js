// Adds a search that needs no server: names.js, loaded with the first letter, has [name, page]s.
(function () {
  document.querySelector("header").insertAdjacentHTML("beforeend",
    '<form role="search"><label for="search">Find</label> <input id="search" type="search"' +
    ' autocomplete="off" aria-controls="found"></form><ul id="found" aria-live="polite"></ul>');
  var box = document.getElementById("search"), list = document.getElementById("found");
  var root = document.currentScript.getAttribute("src").replace("search.js", "");
  function rank(name, text) {
    var at = name.indexOf(text);
    return at < 0 ? -1 : name === text ? 0 : at === 0 ? 1 : 2;
  }
  function find(text) {
    var found = [];
    NAMES.forEach(function (one) {
      var order = rank(one[0].toLowerCase(), text);
      if (order >= 0) found.push([order, one[0].length, one]);
    });
    found.sort(function (a, b) { return a[0] - b[0] || a[1] - b[1]; });
    return found.slice(0, 20).map(function (one) { return one[2]; });
  }
  function errors(text) {
    var letter = /^[a-z]/.test(text) ? text[0] : "other", start = text.slice(0, 20);
    var page = "errors/" + letter + ".html#:~:text=" + encodeURIComponent(start);
    return ["error texts that begin with " + start, page];
  }
  function show() {
    var text = box.value.trim().toLowerCase(), found = text ? find(text) : [];
    if (text.indexOf(" ") > 0) found.push(errors(text));
    list.textContent = "";
    found.forEach(function (one) {
      var item = document.createElement("li"), link = document.createElement("a");
      link.href = root + one[1];
      link.textContent = one[0];
      item.appendChild(link);
      list.appendChild(item);
    });
  }
  function search() {
    if (window.NAMES) return show();
    var script = document.createElement("script");
    script.src = root + "names.js";
    script.onload = show;
    document.head.appendChild(script);
  }
  box.addEventListener("input", search);
  box.form.addEventListener("submit", function (event) {
    event.preventDefault();
    var first = list.querySelector("a");
    if (first) location.href = first.href;
  });
  var asked = new URLSearchParams(location.search).get("q");
  if (asked) { box.value = asked; search(); }
})();
