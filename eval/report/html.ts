/** Escapes text for HTML, attributes included. */
export function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** Renders an SVG drawing; `label` is its description for screen readers. */
export function svg(width: number, height: number, label: string, content: string): string {
  const box = `viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"`;
  return `<svg ${box} role="img" aria-label="${escape(label)}" xmlns="http://www.w3.org/2000/svg">${content}</svg>`;
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
): string {
  const style = className === '' ? '' : ` class="${className}"`;
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}"${style}>${escape(text)}</text>`;
}

/** Formats a score; null as a dash. */
export function score(value: number | null, digits = 2): string {
  return value === null ? '–' : value.toFixed(digits);
}
