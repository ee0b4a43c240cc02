/** The HTML report: hostile names stay text, nothing is loaded or run, every figure has its definition, and unknown is said. */
import { describe, expect, it } from 'vitest';
import { CAUSE_WORDS, type DeviceIdle, type Gap } from '../../electron/contract/idle.ts';
import { RUN_REPORT_SCHEMA, type ProofReport, type RunReport } from '../../electron/contract/run-report.ts';
import { duration, percent, tickTime, timeStep } from '../../electron/formats/report/amounts.ts';
import { escapeHtml, html, Html } from '../../electron/formats/report/markup.ts';
import { renderReport } from '../../electron/formats/report/report.ts';
import { findChromium, launchChromium, watchPage } from '../support/chromium.ts';
import { sampleDevice, sampleIdle, SAMPLE_GAPS } from '../support/idle-sample.ts';
import { SCHEDULER } from '../support/journal.ts';

const S = 1e9;
const HOSTILE = `</style><script>window.hit=1</script><img src=x onerror="window.hit=1">"'\`&amp;\u202eevil`;

function proof(id: string, fields: Partial<ProofReport> = {}): ProofReport {
  return { id, attempt: 1, name: null, circuit: 'sha256-62500', outcome: 'valid', latency_ns: 12 * S, sha256: 'ab'.repeat(32), path: '/home/op/p.json', error: null, partitions: [], ...fields }; // prettier-ignore
}

function report(fields: Partial<RunReport> = {}): RunReport {
  const window = { job_span_ns: 160 * S, lock_held_ns: 118 * S, kernel_ns: 103 * S, copy_ns: 0 };
  return {
    schema: RUN_REPORT_SCHEMA, run: 'r12', uid: 'u-12', state: 'finished', ended_by: 'drained', engine: 'builtin', backend: 'cpu', emulate: null,
    scheduler: SCHEDULER, found: {}, imported_from: null, started_wall_ns: '1796043668729000001', wall_ns: 180 * S, s_per_proof: 5,
    s_per_proof_detail: { value: 5, n: 30, low: 4, high: 6, too_few_below: 5 }, latency_s: 12,
    devices: [{ device: 'cpu0', kind: 'cpu', wall_ns: 180 * S, ...window, job_span_sum_ns: 0, lock_held_sum_ns: 0, kernel_sum_ns: 0, copy_sum_ns: 0 }],
    proofs: [proof('p1'), proof('p2', { outcome: 'failed', error: { code: 'device_failed', message: HOSTILE } })],
    events: { count: 100, lost: 0, unparsed: 0 }, peak_rss_bytes: null, processes: [], ...fields,
  }; // prettier-ignore
}

function render(run: Partial<RunReport> = {}, devices: DeviceIdle[] = [sampleDevice()], gaps: readonly Gap[] = SAMPLE_GAPS): string {
  const ends = Array.from({ length: 30 }, (_, index) => (20 + index * 5) * S);
  return renderReport({ run: report(run), idle: sampleIdle(devices), gaps, ends, versions: [HOSTILE], isRedacted: false });
}

const HOSTILE_RUN: Partial<RunReport> = {
  emulate: HOSTILE,
  found: { [HOSTILE]: HOSTILE },
  imported_from: HOSTILE,
  proofs: [proof('p1', { name: HOSTILE, circuit: HOSTILE, error: { code: HOSTILE, message: HOSTILE }, outcome: 'failed' })], // prettier-ignore
};

describe('text from outside', () => {
  it('is escaped, and what hides or reorders becomes visible', () => {
    expect(escapeHtml(`<b a="1" b='2'>&\`\u202e`)).toBe('&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;&#96;⟨U+202E⟩');
    expect(html`${'<i>'}${new Html('<i>')}${null}${false}${[1, '<']}`.text).toBe('&lt;i&gt;<i>1&lt;');
  });

  it('makes no element and no attribute, wherever it stands', () => {
    const text = render(HOSTILE_RUN, [sampleDevice({ device: 'cpu0' })]);
    expect(text.split('&lt;/style&gt;&lt;script&gt;').length).toBeGreaterThan(7);
    expect(text).not.toMatch(/<script|<img|onerror="/);
    expect(text.match(/<\/style>/g)).toHaveLength(1);
  });
});

describe('the file', () => {
  it('needs nothing beside it: no address, no script, a policy that forbids both', () => {
    const text = render();
    expect(text).toContain(`content="default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;"`);
    const own = text.replaceAll(escapeHtml(HOSTILE), '');
    expect(own.replaceAll(/url\(#[\w-]+\)/g, '')).not.toMatch(/https?:|url\(|@import|src=|href=|<script|<link|<iframe/);
    expect(text).not.toContain('/home/op');
  });

  it('has every cause with its sentence, and says what it cannot know', () => {
    const groups = { lock_or_kernel: { ns: 3 * S, may_be: ['kernel' as const, 'in_lock' as const] } };
    const windows = { ...sampleDevice().windows, kernel: { ns: null, sum_ns: null, recorded: false, error_ns: 0 } };
    const text = render({ backend: 'emulated', s_per_proof_detail: { value: null, n: 2, low: null, high: null, too_few_below: 5 } }, [sampleDevice({ groups, windows, kernel_ns: null, provisional_ns: 2 * S, provisional: { starved: 2 * S } })]); // prettier-ignore
    for (const cause of ['epilogue', 'starved', 'unknown', 'lock_or_kernel'] as const)
      expect(text).toContain(escapeHtml(CAUSE_WORDS[cause].says));
    for (const words of ['not recorded', 'That window is not 0', 'May be: kernels, in lock', 'provisional', 'Nothing is claimed', 'EMULATED', 'too few', 'from 5 on']) expect(text).toContain(words); // prettier-ignore
  });

  it('is small whatever the run, and lists what went wrong first', () => {
    const proofs = [...Array.from({ length: 5000 }, (_, index) => proof(`p${index}`)), proof('bad1', { outcome: 'invalid' })];
    const text = render({ proofs }, [sampleDevice()], Array.from({ length: 5000 }, () => SAMPLE_GAPS[0] as Gap)); // prettier-ignore
    expect(text.length).toBeLessThan(400_000);
    expect(text).toContain('bad1');
    expect(text).toContain('500 of 5001');
    expect(text).toContain('20 of 5000');
  });
});

it('numbers read as they should', () => {
  expect([0, 17, 1500, 180e6, 12.34e9, 125e9, 3720e9].map(duration)).toEqual([
    '0 ns',
    '17 ns',
    '2 µs',
    '180.0 ms',
    '12.34 s',
    '2 min 05 s',
    '1 h 02 min',
  ]);
  expect([percent(1, 3), percent(1, 1e6), percent(0, 5), percent(1, 0)]).toEqual(['33.3 %', '< 0.1 %', '0.0 %', '–']);
  expect([timeStep(180, 7), timeStep(40, 7), timeStep(90_000, 7), tickTime(60, 30), tickTime(120, 60), tickTime(0, 5)]).toEqual([
    30,
    10,
    21_600,
    '60 s',
    '2 min',
    '0',
  ]);
});

describe.skipIf(findChromium() === null)('in a browser', () => {
  it('shows as it should without a single request, error or script, light, dark and on a phone', { timeout: 60_000 }, async () => {
    const browser = await launchChromium();
    try {
      const page = await browser.newPage({ viewport: { width: 1200, height: 900 }, colorScheme: 'dark' });
      const seen = watchPage(page);
      await page.setContent(render(HOSTILE_RUN));
      expect(await page.evaluate('window.hit')).toBeUndefined();
      expect(seen.errors).toEqual([]);
      expect(seen.requests.filter((url) => !url.startsWith('about:') && !url.startsWith('data:'))).toEqual([]);
      const ground = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
      expect(await ground()).toBe('rgb(13, 16, 20)');
      await page.emulateMedia({ colorScheme: 'light' });
      expect(await ground()).toBe('rgb(243, 244, 246)');
      const widths =
        'Array.from(document.querySelectorAll("section:nth-of-type(2) svg.bar")[1].querySelectorAll("g > rect"), (rect) => rect.getBoundingClientRect().width)';
      const parts = (await page.evaluate(widths)) as number[];
      const whole = (await page.evaluate(
        'document.querySelectorAll("section:nth-of-type(2) svg.bar")[1].getBoundingClientRect().width',
      )) as number;
      // The bar is full: the parts add up to the run.
      expect(Math.abs(parts.reduce((sum, width) => sum + width, 0) - whole)).toBeLessThan(1);
      await page.setViewportSize({ width: 390, height: 800 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    } finally {
      await browser.close();
    }
  });
});
