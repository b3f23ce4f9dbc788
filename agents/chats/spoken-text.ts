import type { EndingFilter } from '../output/text-filter.ts';

/** Tags of reasoning blocks. */
const hiddenBlocks = ['think', 'thinking', 'thought', 'reasoning', 'analysis', 'scratchpad'];
const hiddenOpens = hiddenBlocks.map((name) => `<${name}>`);
/** Dropped by themselves: ends of reasoning blocks whose start the chat template swallowed, start-of-text tokens. */
const dropped = [...hiddenBlocks.map((name) => `</${name}>`), '<s>', '<bos>'];
/** Leaked control tokens of chat templates; the text after them is not spoken. */
const controls = ['<|', '<｜', '</s>', '<eos>', '<<sys>>', '[inst]', '[/inst]', '<start_of_turn>', '<end_of_turn>'];
const tags = [...hiddenOpens, ...dropped, ...controls];

/**
 * Removes `<think>…</think>` blocks and the like, and everything from a leaked control token such as `<|eot_id|>` or
 * `[/INST]` on. Text that may be the start of a tag is held back until that is decided. Leading space is removed, unless the
 * text continues another one.
 */
export function spokenText({ continues = false } = {}): EndingFilter {
  let held = '';
  let hiddenUntil: string | undefined;
  let ended = false;
  let spokeAlready = continues;

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

/** Position of the first complete tag, otherwise of a possible partial one at the end, otherwise the end. */
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
