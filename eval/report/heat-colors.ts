/** Stops of the colour scale: warm below the reference, pale at it, cool above. */
const stops: readonly (readonly [at: number, red: number, green: number, blue: number])[] = [
  [0, 143, 43, 30],
  [0.4, 214, 104, 70],
  [0.75, 246, 196, 154],
  [1, 247, 243, 232],
  [1.25, 164, 214, 201],
  [1.6, 57, 145, 138],
  [2, 17, 88, 96],
];

/** Returns the background colour for a ratio to the reference, and a readable text colour. */
export function heatColors(ratio: number | null): { readonly fill: string; readonly ink: string } {
  if (ratio === null) return { fill: 'var(--empty)', ink: 'var(--faint)' };
  const value = Math.max(0, Math.min(2, ratio));
  const above = stops.findIndex(([at]) => at >= value);
  const [high, low] = [
    stops[Math.max(1, above)] as (typeof stops)[0],
    stops[Math.max(1, above) - 1] as (typeof stops)[0],
  ];
  const share = (value - low[0]) / (high[0] - low[0]);
  const channels = [1, 2, 3].map((at) =>
    Math.round((low[at] as number) + share * ((high[at] as number) - (low[at] as number))),
  );
  const [red = 0, green = 0, blue = 0] = channels;
  const luminance = (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255;
  return { fill: `rgb(${channels.join(' ')})`, ink: luminance > 0.52 ? '#1d1b16' : '#fffdf8' };
}
