/** Blocks in which a model thinks before it speaks. */
const hiddenBlocks = ['think', 'thinking', 'thought', 'reasoning', 'analysis', 'scratchpad'];
const hiddenOpens = hiddenBlocks.map((name) => `<${name}>`);
/** Tags that say nothing by themselves: the end of a thought whose beginning a chat template has swallowed, the start of a text. */
const dropped = [...hiddenBlocks.map((name) => `</${name}>`), '<s>', '<bos>'];
/** Control tokens of chat templates that leaked; what follows is not for the listener. */
const controls = ['<|', '<｜', '</s>', '<eos>', '<<sys>>', '[inst]', '[/inst]', '<start_of_turn>', '<end_of_turn>'];
const tags = [...hiddenOpens, ...dropped, ...controls];

/** Feeds text deltas through, leaving out what a model does not mean to say; `rest` gives what was held back at the end. */
export interface SpokenText {
  add(delta: string): string;
  rest(): string;
  /** True once a control token was met; nothing follows. */
  hasEnded(): boolean;
}

/**
 * Leaves out `<think>…</think>` blocks and their like, also when their tags are split over deltas, and everything from a leaked
 * control token such as `<|eot_id|>` or `[/INST]` on. Text that may be the beginning of a tag is held until it is known not to be one.
 */
export function spokenText(): SpokenText {
  let held = '';
  let hiddenUntil: string | undefined;
  let ended = false;
  let spokeAlready = false;

  const take = (): string => {
    let spoken = '';
    while (!ended && held !== '') {
      const [at, tag] = firstOf(held, hiddenUntil === undefined ? tags : [hiddenUntil]);
      if (hiddenUntil === undefined) spoken += held.slice(0, at);
      held = held.slice(at);
      if (tag === undefined) break;
      held = held.slice(tag.length);
      ended = controls.includes(tag);
      hiddenUntil = hiddenOpens.includes(tag) ? tag.replace('<', '</') : undefined;
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
      return ended || hiddenUntil !== undefined ? '' : held;
    },
    hasEnded: () => ended,
  };
}

/** Where the first whole tag begins, or else where what may become one begins, or else the end of the text. */
function firstOf(text: string, wanted: readonly string[]): [at: number, tag: string | undefined] {
  for (const { index: at } of text.matchAll(/[<[]/gu)) {
    const tail = text.slice(at, at + longestTag).toLowerCase();
    const whole = wanted.find((tag) => tail.startsWith(tag));
    if (whole !== undefined) return [at, whole];
    if (wanted.some((tag) => tag.startsWith(tail))) return [at, undefined];
  }
  return [text.length, undefined];
}

const longestTag = Math.max(...tags.map((tag) => tag.length));
