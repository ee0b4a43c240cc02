/** The report's one style sheet. Light or dark as the reader's system is; paper is always light. */
import { CAUSE_COLOURS, WINDOW_COLOURS } from '../../contract/cause-colours.ts';

const GROUND = {
  light: { bg: '#f3f4f6', panel: '#ffffff', line: '#dfe2e7', ink: '#14181f', 'ink-2': '#48515f', 'ink-3': '#5f6877', idle: '#e7e9ed', ok: '#0d7a52', bad: '#b91c2c', warn: '#855400', 'warn-ground': '#fdf3dc' },
  dark: { bg: '#0d1014', panel: '#14181e', line: '#262d36', ink: '#e7eaef', 'ink-2': '#aab3c0', 'ink-3': '#8d97a6', idle: '#1d232b', ok: '#4fc48d', bad: '#ff8078', warn: '#e8b552', 'warn-ground': '#2a2113' },
} as const; // prettier-ignore

function variables(mode: 'light' | 'dark'): string {
  const ground = Object.entries(GROUND[mode]).map(([name, colour]) => `--${name}:${colour}`);
  const causes = Object.entries(CAUSE_COLOURS).flatMap(([name, colour]) => [
    `--c-${name}:${colour[mode].fill}`,
    `--on-${name}:${colour[mode].on}`,
  ]);
  const windows = Object.entries(WINDOW_COLOURS).map(([name, colour]) => `--w-${name}:${colour[mode].fill}`);
  return [...ground, ...causes, ...windows].join(';');
}

const CLASSES = Object.entries(CAUSE_COLOURS)
  .map(([name, { pattern }]) => {
    const fill = pattern === 'solid' ? `var(--c-${name})` : `url(#p-${name})`;
    return `.c-${name}{fill:${fill}}.t-${name}{fill:var(--on-${name})}`;
  })
  .join('\n');

export const STYLE = `
:root{color-scheme:light dark;${variables('light')}}
@media (prefers-color-scheme:dark){:root{${variables('dark')}}}
*{box-sizing:border-box}
html{background:var(--bg)}
body{margin:0 auto;max-width:1120px;padding:40px 32px 64px;color:var(--ink);font:14px/1.5 Inter,system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",sans-serif;font-variant-numeric:tabular-nums;-webkit-text-size-adjust:100%}
h1,h2,h3,p,dl,dd,table,figure{margin:0}
h1{font-size:28px;line-height:1.2;letter-spacing:-.015em;font-weight:650}
h2{font-size:17px;line-height:1.3;font-weight:650;margin-bottom:4px}
h3{font-size:13px;font-weight:600;margin:24px 0 8px;color:var(--ink-2)}
header{display:flex;flex-wrap:wrap;gap:8px 16px;align-items:baseline;margin-bottom:4px}
.eyebrow,.lead,.note,figcaption{color:var(--ink-2)}
.eyebrow{font-size:12px;color:var(--ink-3);margin-bottom:8px}
.lead{margin-bottom:24px}
.note{font-size:12.5px;max-width:96ch}
.note+.note{margin-top:4px}
section{background:var(--panel);border:1px solid var(--line);border-radius:10px;padding:24px;margin-top:16px}
.badge{display:inline-block;font-size:11px;line-height:20px;font-weight:650;letter-spacing:.02em;padding:0 8px;border-radius:4px;background:var(--ink-2);color:var(--panel)}
.badge.emulated{background:#ffd23d;color:#1a1400}
.badge.failed,.badge.invalid{background:var(--bad);color:var(--panel)}
.warning{border-left:3px solid var(--warn);background:var(--warn-ground);padding:8px 12px;border-radius:0 4px 4px 0;margin-top:12px;font-size:13px}
.figures{display:grid;grid-template-columns:minmax(220px,1.4fr) repeat(3,1fr);gap:24px;align-items:end}
.figures dt{font-size:12px;color:var(--ink-3)}
.figures dd{font-size:22px;line-height:1.25;font-weight:600;letter-spacing:-.01em}
.figures .first dd{font-size:40px;line-height:1.05;letter-spacing:-.03em;font-weight:680}
.figures small{display:block;font-size:12px;font-weight:400;letter-spacing:0;color:var(--ink-2)}
.unit{white-space:nowrap;font-size:14px;font-weight:500;letter-spacing:0;color:var(--ink-2)}
svg{display:block;overflow:visible}
svg text{font-size:12px;fill:var(--ink-2)}
.bar{width:100%}
.bar .ground{fill:var(--idle)}
.gap{stroke:var(--panel);stroke-width:1px}
.legend{display:flex;flex-wrap:wrap;gap:4px 20px;margin-top:10px;font-size:13px;list-style:none;padding:0}
.legend li{display:flex;gap:8px;align-items:center;white-space:nowrap}
.legend b{font-weight:600}
.swatch{flex:none;border-radius:3px}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:13px}
th{font-size:12px;font-weight:500;color:var(--ink-3);text-align:left;vertical-align:bottom;padding:0 16px 6px 0;border-bottom:1px solid var(--line);white-space:nowrap}
td{padding:6px 16px 6px 0;border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:anywhere}
tr:last-child td{border-bottom:0}
th:last-child,td:last-child{padding-right:0}
td.n,th.n{text-align:right;white-space:nowrap;overflow-wrap:normal}
td.k,th.k{white-space:nowrap;overflow-wrap:normal}
td.w{color:var(--ink-2)}
table.below{margin-top:14px}
.hash{font:11px/1.8 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.settings{columns:2;column-gap:40px;margin-top:12px;font-size:13px}
.settings div{display:grid;grid-template-columns:180px 1fr;gap:16px;padding:5px 0;border-bottom:1px solid var(--line);break-inside:avoid}
.settings dt{color:var(--ink-3);overflow-wrap:anywhere}
.settings dd{overflow-wrap:anywhere}
tr.sum td{font-weight:600;border-top:1px solid var(--ink-3);border-bottom:0}
tr.sum td.w{font-weight:400}
tr.zero td{color:var(--ink-3)}
.name{display:inline-flex;gap:8px;align-items:center;white-space:nowrap;font-weight:500}
.valid{color:var(--ok)}.bad{color:var(--bad)}.dim{color:var(--ink-3)}
.windows{display:grid;grid-template-columns:auto auto auto 1fr;gap:6px 20px;margin-top:12px;align-items:baseline;font-size:13px}
.windows .name{align-self:center}
.windows .share{font-weight:600;text-align:right}
.windows .says{color:var(--ink-2)}
.chart{display:grid;grid-template-columns:56px 1fr;margin-top:12px}
.grid line{stroke:var(--line)}
.dot{fill:var(--w-kernel)}
.steady{fill:none;stroke:var(--ink);stroke-width:1.5;stroke-linejoin:round}
.w-kernel{fill:var(--w-kernel)}.w-lock{fill:var(--w-lock)}.w-job{fill:var(--w-job)}
ul.plain{margin:8px 0 0;padding-left:18px;max-width:96ch}
ul.plain li{margin:4px 0}
footer{margin-top:24px;font-size:12px;color:var(--ink-3)}
${CLASSES}
@media (max-width:760px){body{padding:20px 12px 40px}section{padding:16px}.figures{grid-template-columns:1fr 1fr}.settings{columns:1}.scroll table{min-width:600px}.windows{grid-template-columns:auto auto 1fr}.windows .says{grid-column:1/-1;margin-bottom:8px}}
@media print{
:root{color-scheme:light;${variables('light')}}
html{background:none}
body{max-width:none;padding:0;font-size:11px}
section{border:0;border-top:1px solid var(--line);border-radius:0;padding:14px 0;margin-top:0}
tr,figure,.figures,.windows{break-inside:avoid}
h2,h3{break-after:avoid}
thead{display:table-header-group}
svg,.badge,.warning{-webkit-print-color-adjust:exact;print-color-adjust:exact}
@page{margin:16mm 14mm}
}
`;
