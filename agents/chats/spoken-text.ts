const hiddenOpen = '<think>';
const hiddenClose = '</think>';
const controlOpen = '<|';

/** Feeds text deltas through, leaving out what a model does not mean to say; `rest` gives what was held back at the end. */
export interface SpokenText {
  add(delta: string): string;
  rest(): string;
  /** True once a control token was met; nothing follows. */
  hasEnded(): boolean;
}

/**
 * Leaves out `<think>…</think>` blocks, also when their tags are split over deltas, and everything from a leaked control
 * token such as `<|eot_id|>` on. Text that may be the beginning of a tag is held until it is known not to be one.
 */
export function spokenText(): SpokenText {
  let held = '';
  let hidden = false;
  let ended = false;
  let spokeAlready = false;

  const take = (): string => {
    let spoken = '';
    while (!ended && held !== '') {
      const tags = hidden ? [hiddenClose] : [hiddenOpen, controlOpen];
      const [at, tag] = firstOf(held, tags);
      if (!hidden) spoken += held.slice(0, at);
      held = held.slice(at);
      if (tag === undefined) break;
      held = held.slice(tag.length);
      ended = tag === controlOpen;
      hidden = tag === hiddenOpen;
    }
    if (!spokeAlready) spoken = spoken.trimStart();
    spokeAlready ||= spoken !== '';
    return spoken;
  };

  return {
    add(delta) {
      held += ended ? '' : delta;
      return take();
    },
    rest() {
      return ended || hidden ? '' : held;
    },
    hasEnded: () => ended,
  };
}

/** Where the first whole tag begins, or else where what may become one begins, or else the end of the text. */
function firstOf(text: string, tags: readonly string[]): [at: number, tag: string | undefined] {
  for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', at + 1)) {
    const tail = text.slice(at);
    const whole = tags.find((tag) => tail.startsWith(tag));
    if (whole !== undefined) return [at, whole];
    if (tags.some((tag) => tag.startsWith(tail))) return [at, undefined];
  }
  return [text.length, undefined];
}
