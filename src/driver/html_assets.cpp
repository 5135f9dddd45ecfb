#include "driver/html_assets.h"

namespace jumar::driver::html {
namespace {

// Colours are variables, so that the dark page is the same page: it is dark when the reader's system is,
// unless the button says otherwise.
constexpr std::string_view kStyle = R"css(
:root { color-scheme: light; --page:#f6f7f9; --card:#fff; --text:#1c2330; --soft:#5b6675; --line:#dde2e9;
  --accent:#2456b8; --kernel:#2456b8; --call:#b3590a; --python:#b02a50; --host:#5b6675; --mark:#c02b2b;
  --c0:#7ea6e8; --c1:#8fcf9f; --c2:#f0b878; --c3:#c5a3e0; --c4:#7cc9cf; --c5:#ee9aa2; --c6:#c9c26b;
  --c7:#a9b4c4;
  --k0:#3b73d1; --k1:#2f9350; --k2:#cf7d1a; --k3:#8a55bd; --k4:#1f929b; --k5:#d1495b; --k6:#8d8518;
  --k7:#667489; }
:root[data-theme=dark] { color-scheme: dark; --page:#12161c; --card:#1a2029; --text:#e3e8ef; --soft:#97a3b3;
  --line:#303946; --accent:#7fabff; --kernel:#7fabff; --call:#f0a55a; --python:#f08aa8; --host:#97a3b3;
  --mark:#ff7b72; --c0:#3d62a0; --c1:#3b7a4e; --c2:#93662a; --c3:#6d4a8c; --c4:#2f757b; --c5:#91464f;
  --c6:#716b25;
  --c7:#556072; --k0:#6ea2f5; --k1:#5cc47d; --k2:#eda650; --k3:#b98be6; --k4:#4fc3cc; --k5:#f0808e;
  --k6:#c9c04f;
  --k7:#93a1b5; }
* { box-sizing:border-box; }
html { scroll-padding-top:64px; }
body { margin:0; background:var(--page); color:var(--text); font:15px/1.5 system-ui,-apple-system,"Segoe
  UI",
  Roboto,"DejaVu Sans",sans-serif; }
code, pre { font-family:ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;
  font-size:.87em; }
a { color:var(--accent); text-decoration:none; }
a:hover { text-decoration:underline; }
header { position:sticky; top:0; z-index:2; display:flex; gap:24px; align-items:center;
  justify-content:space-between; padding:8px 28px; background:var(--card); border-bottom:1px solid
  var(--line); }
header > div { min-width:0; }
h1 { margin:0; font-size:17px; overflow:hidden; text-overflow:ellipsis; white-space:nowrap; }
header p { margin:0; color:var(--soft); font-size:12px; overflow:hidden; text-overflow:ellipsis;
  white-space:nowrap; }
.sep::before { content:" · "; }
nav { display:flex; gap:16px; align-items:center; font-size:14px; white-space:nowrap; }
main { max-width:1240px; margin:0 auto; padding:4px 28px 60px; }
section { margin:20px 0; padding:18px 22px 20px; background:var(--card); border:1px solid var(--line);
  border-radius:10px; }
h2 { margin:0 0 6px; font-size:18px; }
h4 { margin:16px 0 6px; font-size:13px; color:var(--soft); font-weight:600; }
p { margin:6px 0 10px; }
section > p { color:var(--soft); }
section > p.note { font-size:13px; }
.notes { margin:6px 0 0; padding-left:20px; color:var(--soft); font-size:13px; }
.tiles { display:grid; grid-template-columns:repeat(auto-fit,minmax(170px,1fr)); gap:14px; margin:12px 0
  14px; }
.tile { padding:12px 16px; border:1px solid var(--line); border-radius:8px; }
.tile b { display:block; font-size:25px; line-height:1.2; font-weight:650; }
.tile span { display:block; font-weight:600; }
.tile small { color:var(--soft); }
button, input { font:inherit; font-size:13px; color:inherit; background:var(--page); border:1px solid
  var(--line);
  border-radius:6px; padding:5px 11px; }
button { cursor:pointer; }
button:hover { border-color:var(--accent); }
input:focus-visible, button:focus-visible, summary:focus-visible, a:focus-visible { outline:2px solid
  var(--accent);
  outline-offset:1px; }
table { border-collapse:collapse; width:100%; font-size:13px; }
th { text-align:left; font-weight:600; color:var(--soft); }
th, td { padding:4px 14px 4px 0; border-bottom:1px solid var(--line); vertical-align:top;
  overflow-wrap:break-word; }
.io td:last-child, .nodes td:last-child { white-space:nowrap; color:var(--soft); }
.nodes td:first-child { max-width:300px; } .nodes td:nth-child(3) { max-width:260px; }
tr:last-child td { border-bottom:0; }
.n { text-align:right; white-space:nowrap; font-variant-numeric:tabular-nums; }
.bar { display:block; height:10px; margin-top:5px; min-width:1px; background:var(--c0); border-radius:2px; }
.stages { max-width:620px; }
.stages td:first-child { width:90px; } .stages td:nth-child(2) { width:100px; }
#parameters td:last-child { width:22%; }
svg.memory { display:block; width:100%; height:auto; margin:6px 0 8px; }
svg.memory text { font-size:11px; fill:var(--text); }
svg.memory .tick { fill:var(--soft); }
.grid { stroke:var(--line); stroke-width:1; }
.block { stroke:var(--card); stroke-width:1; }
svg.memory a:hover .block, svg.memory a:focus .block { stroke:var(--text); stroke-width:1.5; }
.block.outside { fill-opacity:.62; }
.c0{fill:var(--c0)} .c1{fill:var(--c1)} .c2{fill:var(--c2)} .c3{fill:var(--c3)} .c4{fill:var(--c4)}
.c5{fill:var(--c5)} .c6{fill:var(--c6)} .c7{fill:var(--c7)}
svg.memory .label { text-anchor:middle; pointer-events:none; }
svg.memory .mark { font-weight:600; paint-order:stroke; stroke:var(--card); stroke-width:4px;
  pointer-events:none; } svg.memory .mark.peak { fill:var(--mark); }
line.arena { stroke:var(--text); stroke-width:1.2; stroke-dasharray:6 4; }
line.peak { stroke:var(--mark); stroke-width:1.4; stroke-dasharray:2 3; pointer-events:none; }
.tools { display:flex; gap:10px; align-items:center; margin:12px 0; }
.tools input { flex:1; max-width:460px; padding:7px 12px; } #shown { flex:1; color:var(--soft);
  font-size:13px; }
.program { border-top:1px solid var(--line); }
h3.block { margin:0; padding:9px 0 5px var(--lanes); font-size:13px; color:var(--soft); font-weight:650;
  stroke:none;
  border-bottom:1px solid var(--line); }
.row { position:relative; border-bottom:1px solid var(--line); }
.row > summary { display:flex; gap:12px; align-items:center; min-height:38px; padding:4px 8px 4px
  var(--lanes);
  cursor:pointer; list-style:none; }
.row > summary::-webkit-details-marker { display:none; }
.row > summary:hover, .row:target > summary { background:color-mix(in srgb,var(--accent) 8%,transparent); }
h3.block { position:relative; }
.row svg.lanes, h3.block svg.lanes { position:absolute; left:0; top:0; bottom:0; pointer-events:none; }
.lanes line, .lanes path { fill:none; stroke-width:1.8; opacity:.8; }
.lanes circle { fill:var(--host); stroke:var(--card); stroke-width:2; }
.kernel .lanes circle { fill:var(--kernel); } .call .lanes circle { fill:var(--call); }
.python .lanes circle { fill:var(--python); }
.k0{stroke:var(--k0)} .k1{stroke:var(--k1)} .k2{stroke:var(--k2)} .k3{stroke:var(--k3)}
  .k4{stroke:var(--k4)}
.k5{stroke:var(--k5)} .k6{stroke:var(--k6)} .k7{stroke:var(--k7)}
.step { width:30px; color:var(--soft); font-size:12px; text-align:right;
  font-variant-numeric:tabular-nums; }
.kind { width:52px; flex:none; font-size:11px; font-weight:650; text-align:center; border-radius:4px;
  padding:1px 0;
  color:var(--host); border:1px solid currentColor; }
.kernel .kind { color:var(--kernel); } .call .kind { color:var(--call); } .python .kind {
  color:var(--python); }
.name { font-weight:600; white-space:nowrap; overflow:hidden; text-overflow:ellipsis; max-width:270px;
  flex:none; }
.module { color:var(--soft); font-size:13px; white-space:nowrap; overflow:hidden; text-overflow:ellipsis;
  flex:0 1 auto;
  min-width:60px; }
.why { margin-left:auto; color:var(--soft); font-size:13px; text-align:right; }
.ops { margin-left:auto; min-width:60px; font-size:12px; color:var(--soft); white-space:nowrap;
  overflow:hidden;
  text-overflow:ellipsis; }
.type { flex:none; width:190px; color:var(--soft); font-size:12px; text-align:right; overflow:hidden;
  text-overflow:ellipsis; white-space:nowrap; }
.ops i { font-style:normal; padding:1px 6px; margin-left:2px; border-radius:4px;
  background:var(--page); border:1px solid var(--line); }
.body { padding:4px 12px 16px var(--lanes); }
.body p { font-size:14px; }
pre { margin:6px 0; padding:12px 14px; background:var(--page); border:1px solid var(--line);
  border-radius:6px;
  overflow:auto; max-height:520px; line-height:1.45; }
.io td:first-child { width:60px; color:var(--soft); }
details.plain > summary { cursor:pointer; padding:5px 0; }
.count { display:inline-block; min-width:38px; margin-right:10px; padding:0 7px; border-radius:9px;
  font-size:12px;
  text-align:center; background:var(--page); border:1px solid var(--line); }
.pairs span { display:inline-block; margin:0 18px 2px 0; font-size:13px; }
.hidden { display:none; }
@media (max-width:900px) { header { flex-wrap:wrap; } nav { flex-wrap:wrap; gap:10px; } .ops, .type {
  display:none; }
  main { padding:4px 10px 40px; } section { padding:12px; } }
@media print { header { position:static; } .tools, nav { display:none; } pre { max-height:none; } }
)css";

constexpr std::string_view kScript = R"js(
"use strict";
const root = document.documentElement;
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const setTheme = dark => { root.dataset.theme = dark ? "dark" : "light"; };
setTheme(prefersDark.matches);
prefersDark.addEventListener("change", event => setTheme(event.matches));
document.getElementById("theme").addEventListener("click", () => setTheme(root.dataset.theme !== "dark"));

const rows = [...document.querySelectorAll(".row")];
const filter = document.getElementById("filter");
const shown = document.getElementById("shown");
let texts = null;
const applyFilter = () => {
  texts = texts || rows.map(row => row.textContent.toLowerCase());
  const words = filter.value.toLowerCase().split(/\s+/).filter(word => word);
  let count = 0;
  rows.forEach((row, k) => {
    const fits = words.every(word => texts[k].includes(word));
    row.classList.toggle("hidden", !fits);
    count += fits;
  });
  shown.textContent = words.length ? count + " of " + rows.length : "";
};
filter.addEventListener("input", applyFilter);
const openAll = open => rows.forEach(row => { if (!row.classList.contains("hidden")) row.open = open; });
document.getElementById("open").addEventListener("click", () => openAll(true));
document.getElementById("close").addEventListener("click", () => openAll(false));

const openTarget = () => {
  const target = document.getElementById(location.hash.slice(1));
  if (!target || !target.classList.contains("row")) return;
  if (target.classList.contains("hidden")) { filter.value = ""; applyFilter(); }
  target.open = true;
  target.scrollIntoView();
};
addEventListener("hashchange", openTarget);
openTarget();
)js";

}  // namespace

std::string_view style() { return kStyle; }
std::string_view script() { return kScript; }

}  // namespace jumar::driver::html
