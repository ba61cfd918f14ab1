# SPDX-License-Identifier: Apache-2.0
"""How a report looks: one style sheet for screen and paper."""

CSS = """
:root{--ink:#1d2733;--soft:#56616e;--line:#dde3e9;--paper:#fff;--wash:#f5f7f9;--good:#1b6e3c;--goodwash:#e9f5ee;
--bad:#b3261e;--badwash:#fcedec;--warn:#8a5a00;--warnwash:#fdf4e0}
*{box-sizing:border-box}
body{margin:0;background:var(--wash);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,
"Helvetica Neue",Arial,sans-serif}
main{max-width:1000px;margin:0 auto;padding:32px 40px 40px;background:var(--paper)}
h1{font-size:1.35rem;margin:0 0 4px}
h2{font-size:1.1rem;margin:34px 0 10px;padding-bottom:5px;border-bottom:2px solid var(--line)}
h3{font-size:.95rem;margin:18px 0 6px;color:var(--soft)}
p{margin:0 0 8px}.soft{color:var(--soft)}.small{font-size:.875rem}
code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.85em;overflow-wrap:anywhere}
.verdict{margin:18px 0 0;padding:18px 22px;border-left:8px solid;border-radius:4px}
.verdict b{display:block;font-size:2.1rem;line-height:1.15;letter-spacing:.01em}
.verdict p{margin:6px 0 0;font-size:1.05rem}.verdict ul{margin:8px 0 0}
.holds{border-color:var(--good);background:var(--goodwash)}.holds b{color:var(--good)}
.breach{border-color:var(--bad);background:var(--badwash)}.breach b{color:var(--bad)}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(190px,1fr));gap:12px;margin:16px 0 0;
padding:0}
.facts div{border:1px solid var(--line);border-radius:4px;padding:10px 14px}
.facts dt{color:var(--soft);font-size:.875rem}
.facts dd{margin:0;font-size:1.35rem;font-weight:600;line-height:1.3}
.facts dd small{display:block;font-size:.8rem;font-weight:400;color:var(--soft)}
blockquote{margin:0 0 8px;padding:8px 16px;border-left:4px solid var(--line);font-size:1.05rem}
ul,ol{margin:0 0 8px;padding-left:22px}li{margin:3px 0}
.note{padding:8px 14px;background:var(--warnwash);border-left:4px solid var(--warn)}
.note.even{margin:12px 0 0;padding:12px 22px;border-left-width:8px;border-radius:4px;font-size:1.05rem}
table{border-collapse:collapse;width:100%;font-size:.94rem;margin-bottom:10px}
th{text-align:left;color:var(--soft);font-weight:600;border-bottom:2px solid var(--line)}
th,td{padding:6px 16px 6px 0;vertical-align:top}th:last-child,td:last-child{padding-right:0}
td{border-bottom:1px solid var(--line);overflow-wrap:break-word}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.tag{display:inline-block;padding:1px 8px;border-radius:10px;font-size:.8rem;font-weight:600;
white-space:nowrap;border:1px solid}
.tag.good{color:var(--good)}.tag.bad{color:var(--bad)}.tag.warn{color:var(--warn)}.tag.plain{color:var(--soft)}
.finding{display:grid;grid-template-columns:92px 1fr;gap:10px;padding:9px 0;
border-bottom:1px solid var(--line)}
.finding p{margin:0}
svg.histogram{width:100%;height:auto;display:block}svg.bar{vertical-align:-1px;border-radius:2px}
.legend span{margin-right:16px;white-space:nowrap}.legend svg{vertical-align:-1px;margin-right:5px}
.tree{font-size:.92rem;line-height:1.75}
.tree details,.tree .leaf,.tree .cut{margin-left:20px}.tree>details,.tree>.leaf{margin-left:0}
.tree details>:not(summary){border-left:1px solid var(--line);padding-left:6px}
.tree summary{cursor:pointer}.tree .leaf{padding-left:20px!important}
.tree .guilty>summary,.tree .leaf.guilty{background:var(--badwash);outline:1px solid var(--bad);
border-radius:3px}
.tree .id{color:var(--soft);font-size:.78rem}
.sign{display:grid;grid-template-columns:2fr 1fr;gap:32px;margin-top:44px}
.sign div{border-top:1px solid var(--ink);padding-top:4px;color:var(--soft);font-size:.875rem}
footer{margin-top:30px;padding-top:10px;border-top:1px solid var(--line);color:var(--soft);font-size:.84rem}
@media (max-width:640px){main{padding:20px 16px}.finding{grid-template-columns:1fr}}
@media print{@page{margin:16mm}body{background:#fff;font-size:10.5pt}main{max-width:none;padding:0}
.verdict,.facts div,.finding,tr,.sign,svg.histogram{break-inside:avoid}h2{break-after:avoid}
.verdict b{font-size:1.6rem}.facts{grid-template-columns:repeat(4,1fr)}.facts dd{font-size:1.1rem}
.verdict,.note,.guilty{print-color-adjust:exact;-webkit-print-color-adjust:exact}
.tree.whole details::details-content{content-visibility:visible;block-size:auto}}
"""
