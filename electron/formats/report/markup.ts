/** HTML by template: whatever is put in is escaped, unless it is HTML that was made here. */
import { visibleText } from '../../contract/visible-text.ts';

export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type Part = Html | string | number | null | undefined | false | readonly Part[];

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;', '`': '&#96;' };

/** Safe in text and in quoted attributes; what hides or reorders text becomes visible. */
export function escapeHtml(text: string): string {
  return visibleText(text).replace(/[&<>"'`]/g, (mark) => ENTITIES[mark] ?? mark);
}

/** Every value is escaped; nothing, false and null are left out, lists are joined. */
export function html(strings: TemplateStringsArray, ...values: Part[]): Html {
  let text = strings[0] ?? '';
  for (const [index, value] of values.entries()) text += render(value) + (strings[index + 1] ?? '');
  return new Html(text);
}

function render(part: Part): string {
  if (part === null || part === undefined || part === false) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'string' || typeof part === 'number') return escapeHtml(String(part));
  return part.map(render).join('');
}
