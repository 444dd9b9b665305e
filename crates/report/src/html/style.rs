//! The style sheet of the page: light, dark and paper; system fonts; no motion.
//!
//! Colours are variables, so that the three appearances differ in values only. The series have
//! the hues of Okabe and Ito's palette for colour-blind readers, darkened or lightened until they
//! stand 3:1 against the ground; shape and dashes tell them apart without colour.

/// The whole sheet. It refers to nothing outside the page.
pub(crate) const SHEET: &str = r#"
:root {
  color-scheme: light dark;
  --ground: #ffffff; --ink: #1a1a1a; --soft: #595959; --rule: #c4c4c4; --grid: #e4e4e4;
  --panel: #f5f5f5; --link: #00508f; --mark: #00508f; --void: #a63c00; --bar: #00508f; --bar-ink: #ffffff;
  --interval: #b9d6ea; --margin: #e3e3e3; --noise: #8a5a00;
  --s0: #00508f; --s1: #c04a00; --s2: #007a57; --s3: #a0457c; --s4: #1a1a1a; --s5: #8a6d00;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171a; --ink: #ececec; --soft: #a9adb1; --rule: #565b60; --grid: #2d3236;
    --panel: #1d2125; --link: #8cc8f5; --mark: #6cb8f0; --void: #ff9a5c; --bar: #6cb8f0; --bar-ink: #10161b;
    --interval: #23465f; --margin: #32383d; --noise: #e2ab4a;
    --s0: #6cb8f0; --s1: #ff9a5c; --s2: #45c9a0; --s3: #e79ac8; --s4: #ececec; --s5: #e6d05a;
  }
}
* { box-sizing: border-box; }
html { background: var(--ground); color: var(--ink); }
body { margin: 0 auto; padding: 1rem 1.25rem 4rem; max-width: 64rem;
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0.5rem 0 0.75rem; overflow-wrap: anywhere; }
h2 { font-size: 1.35rem; margin: 2.25rem 0 0.5rem; padding-top: 0.75rem; border-top: 2px solid var(--ink); }
h3 { font-size: 1.1rem; margin: 1.75rem 0 0.25rem; }
p, li, dd { overflow-wrap: anywhere; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 3px; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: 0.5rem; padding: 0.5rem 0.75rem; background: var(--ground); z-index: 1; }
.facts { margin: 0; }
.facts div { display: flex; gap: 0.75rem; }
.facts dt { flex: 0 0 5.5rem; color: var(--soft); }
.facts dd { margin: 0; }
nav ul { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; margin: 1rem 0 0; padding: 0; list-style: none; }
.answers { padding-left: 1.1rem; }
.answers li { margin: 0.35rem 0; }
.verdict { font-size: 1.1em; }
figure { margin: 0 0 1rem; overflow-x: auto; }
figcaption { color: var(--soft); max-width: 52rem; margin-bottom: 0.5rem; }
.scroll { overflow-x: auto; margin: 0.75rem 0; }
table { border-collapse: collapse; font-size: 0.84375rem; line-height: 1.35; }
caption { text-align: left; color: var(--soft); padding: 0.25rem 0; }
caption::first-letter { text-transform: uppercase; }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 0.65rem 0.25rem 0; border-bottom: 1px solid var(--rule); }
thead th { border-bottom: 2px solid var(--ink); vertical-align: bottom; }
tbody th { font-weight: 600; }
.figures { font-variant-numeric: tabular-nums; }
th.figures, td.figures { text-align: right; white-space: nowrap; }
th.figures { white-space: normal; }
summary { cursor: pointer; color: var(--link); padding: 0.25rem 0; }
svg { display: block; height: auto; font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; font-variant-numeric: tabular-nums; }
svg.wide { width: 100%; min-width: 44rem; margin: 0.75rem 0; }
svg.small { width: 100%; max-width: 21rem; }
.multiples { display: grid; grid-template-columns: repeat(auto-fill, minmax(14rem, 1fr)); gap: 1rem 0.75rem; }
.cells { columns: 16rem; font-size: 0.875rem; color: var(--soft); margin: 0.25rem 0; }
.shared { position: absolute; width: 0; height: 0; }
svg text { fill: var(--ink); }
svg .row { font-size: 12.5px; }
svg .strong { font-weight: 650; font-size: 12.5px; }
svg .small-text, svg .tick { font-size: 11.5px; }
svg .tick, svg .soft { fill: var(--soft); }
svg .middle { text-anchor: middle; }
svg .end { text-anchor: end; }
svg .halo { paint-order: stroke; stroke: var(--ground); stroke-width: 3px; fill: var(--void); }
svg .on-bar { font-size: 11px; fill: var(--bar-ink); }
svg .on-void { font-size: 11px; paint-order: stroke; stroke: var(--ground); stroke-width: 4px; }
.grid { stroke: var(--grid); }
.rule { stroke: var(--grid); }
.zero { stroke: var(--ink); }
.leader { stroke: var(--rule); }
.interval { fill: var(--interval); }
.median { stroke: var(--ink); stroke-width: 2px; }
.margin { fill: var(--margin); }
.noise { fill: url(#noise); stroke: var(--noise); stroke-width: 0.75px; }
#noise path { stroke: var(--noise); stroke-width: 1.25px; }
#hatch path { stroke: var(--void); stroke-width: 2px; }
.whisker { stroke: var(--ink); stroke-width: 1.75px; }
.doubtful { stroke-dasharray: 4 3; }
.filled { fill: var(--mark); stroke: var(--ground); stroke-width: 0.75px; }
.hollow { fill: var(--ground); stroke: var(--mark); stroke-width: 1.6px; }
.cross { fill: none; stroke: var(--void); stroke-width: 2px; }
.line { fill: none; stroke-width: 1.75px; stroke-linejoin: round; stroke: var(--ink); }
.rate, .p50 { stroke: var(--s0); }
.p99 { stroke: var(--s1); stroke-dasharray: 4 2; }
.line.thin { stroke-width: 0.75px; stroke-dasharray: none; }
.break { stroke: var(--void); stroke-width: 1.5px; stroke-dasharray: 5 3; }
.cut { stroke: var(--ink); stroke-width: 1.75px; stroke-dasharray: 2 4; }
.span { stroke-width: 1.25px; }
.bar { stroke: var(--mark); stroke-width: 0.75px; }
.bar.valid { fill: var(--bar); }
.bar.void { fill: url(#hatch); stroke: var(--void); }
.bar.warm-up { fill: none; }
.series-0 { stroke: var(--s0); } .filled.series-0 { fill: var(--s0); }
.series-1 { stroke: var(--s1); } .filled.series-1 { fill: var(--s1); }
.series-2 { stroke: var(--s2); } .filled.series-2 { fill: var(--s2); }
.series-3 { stroke: var(--s3); } .filled.series-3 { fill: var(--s3); }
.series-4 { stroke: var(--s4); } .filled.series-4 { fill: var(--s4); }
.series-5 { stroke: var(--s5); } .filled.series-5 { fill: var(--s5); }
.line.series-1 { stroke-dasharray: 7 3; }
.line.series-2 { stroke-dasharray: 2 3; }
.line.series-3 { stroke-dasharray: 9 3 2 3; }
.line.series-4 { stroke-dasharray: 12 4; }
.line.series-5 { stroke-dasharray: 4 2 4 6; }
footer { margin-top: 3rem; color: var(--soft); font-size: 0.875rem; }
@media (prefers-reduced-motion: reduce) { * { transition: none; animation: none; scroll-behavior: auto; } }
@media print {
  :root {
    color-scheme: light;
    --ground: #fff; --ink: #000; --soft: #333; --rule: #888; --grid: #ddd; --panel: #fff;
    --link: #000; --mark: #000; --void: #000; --bar: #e3e3e3; --bar-ink: #000; --interval: #ddd; --margin: #e6e6e6;
    --noise: #000; --s0: #000; --s1: #000; --s2: #000; --s3: #000; --s4: #000; --s5: #000;
  }
  @page { size: landscape; margin: 12mm; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  .skip, nav, details:not([open]) { display: none; }
  figure, svg, tr, li { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  svg.wide { min-width: 0; }
  .multiples { grid-template-columns: repeat(4, 1fr); }
  figure, .scroll { overflow: visible; }
  table { font-size: 8pt; }
  th, td { padding-right: 1.5mm; }
  th.figures, td.figures { white-space: normal; }
}
"#;
