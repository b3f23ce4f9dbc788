/** Feeds text deltas through; `rest` gives what was held back at the end. */
export interface OwnWords {
  add(delta: string): string;
  rest(): string;
  /** True once the text began to speak for somebody else; nothing follows. */
  hasEnded(): boolean;
}

/** Labels that a model writes when it begins to speak for the other side. */
const otherLabels = ['user:', 'human:', 'visitor:', 'me:', '<notes>', '访客：', '访客:', '用户：', '用户:'];
const ownLabels = ['assistant:', 'you:'];

/**
 * Keeps a character to its own words: takes its name, or an alias, off the head of a line ("Holmes: Pray continue."), and ends the
 * reply at a line that speaks for the user, or for one of the `others` of a scene. The head of a line is held only while it may still become a label.
 */
export function ownWords(name: string, others: readonly string[] = [], aliases: readonly string[] = []): OwnWords {
  const labelsOf = (word: string): string[] => [`${word.toLowerCase()}:`, `${word.toLowerCase()}：`];
  const names = [name, ...name.split(/\s+/), ...aliases].filter((word) => word.length > 1);
  const own = [...names.flatMap(labelsOf), ...ownLabels];
  const ofOthers = [...otherLabels, ...others.flatMap(labelsOf)];
  let held = '';
  let place: 'line-start' | 'after-label' | 'line' | 'end' = 'line-start';

  /** Moves on by one step and returns what is to be spoken; undefined where more text is needed first. */
  const step = (isLast: boolean): string | undefined => {
    if (held === '' || place === 'end') return undefined;
    if (place === 'line-start') {
      const head = held.replace(/^[\s*_"]+/, '').toLowerCase();
      const label = own.find((each) => head.startsWith(each));
      if (ofOthers.some((each) => head.startsWith(each))) place = 'end';
      else if (label !== undefined) {
        held = held.slice(held.toLowerCase().indexOf(label) + label.length);
        place = 'after-label';
      } else if (!isLast && [...own, ...ofOthers].some((each) => each.startsWith(head))) return undefined;
      else place = 'line';
      return '';
    }
    if (place === 'after-label') {
      held = held.replace(/^[\s*_]+/, '');
      if (held !== '') place = 'line';
      return '';
    }
    const end = held.indexOf('\n') + 1 || held.length;
    const spoken = held.slice(0, end);
    held = held.slice(end);
    if (spoken.endsWith('\n')) place = 'line-start';
    return spoken;
  };
  const take = (isLast: boolean): string => {
    let spoken = '';
    for (let part = step(isLast); part !== undefined; part = step(isLast)) spoken += part;
    return spoken;
  };

  return {
    add(delta) {
      held += delta;
      return take(false);
    },
    rest: () => take(true),
    hasEnded: () => place === 'end',
  };
}
