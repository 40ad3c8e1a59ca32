// Finds names without a server: NAMES is [name, page] by name, made with the site.
(function () {
  var box = document.getElementById("search"), list = document.getElementById("found");
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
  function show() {
    var text = box.value.trim().toLowerCase();
    list.textContent = "";
    (text ? find(text) : []).forEach(function (one) {
      var item = document.createElement("li"), link = document.createElement("a");
      link.href = ROOT + one[1];
      link.textContent = one[0];
      item.appendChild(link);
      list.appendChild(item);
    });
  }
  box.addEventListener("input", show);
  box.form.addEventListener("submit", function (event) {
    event.preventDefault();
    var first = list.querySelector("a");
    if (first) location.href = first.href;
  });
  var asked = new URLSearchParams(location.search).get("q");
  if (asked) { box.value = asked; show(); }
})();
