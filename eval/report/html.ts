/** Markup: the result of `html`. Nothing else is put into a page unescaped. */
export class Markup {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

/** A value that `html` may contain: markup stays as it is, lists are joined, all else is escaped. */
export type Content = Markup | string | number | readonly Content[];

/**
 * Template of markup: escapes every interpolated value that is not itself a result of `html`, for texts and quoted
 * attributes alike.
 */
export function html(parts: TemplateStringsArray, ...values: readonly Content[]): Markup {
  return new Markup(parts.map((part, at) => (at === 0 ? part : asText(values[at - 1] ?? '') + part)).join(''));
}

/** No markup at all, for what is shown in some reports only. */
export const nothing = html``;

/** Turns our own style sheet into markup; never a text that others wrote. */
export function styleSheet(css: string): Markup {
  return new Markup(`<style>${css}</style>`);
}

function asText(value: Content): string {
  if (value instanceof Markup) return value.toString();
  if (Array.isArray(value)) return (value as readonly Content[]).map(asText).join('');
  return String(value).replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Renders an SVG drawing; `label` is its description for screen readers. */
export function svg(width: number, height: number, label: string, content: Content): Markup {
  return html`<svg
    viewBox="0 0 ${width} ${height}"
    width="${width}"
    height="${height}"
    role="img"
    aria-label="${label}"
    xmlns="http://www.w3.org/2000/svg"
  >
    ${content}
  </svg>`;
}

/** Renders a text element of an SVG drawing. */
export function svgText(
  x: number,
  y: number,
  text: string,
  {
    anchor = 'start',
    className = '',
  }: { readonly anchor?: 'start' | 'middle' | 'end'; readonly className?: string } = {},
): Markup {
  const style = className === '' ? nothing : html` class="${className}"`;
  return html`<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" ${style}>${text}</text>`;
}

/** A table that scrolls on narrow screens: a row of heads, which may be `nothing`, and rows of `<tr>`. */
export function scrollTable(className: 'plain' | 'scores' | 'heat', heads: Content, rows: Content): Markup {
  return html`<div class="scroll">
    <table class="${className}">
      ${
        heads === nothing
          ? nothing
          : html`<thead>
              <tr>
                ${heads}
              </tr>
            </thead>`
      }
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

/** Formats a score; null as a dash. */
export function score(value: number | null, digits = 2): string {
  return value === null ? '–' : value.toFixed(digits);
}
