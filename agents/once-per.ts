/** Makes something once for each object, and forgets it together with the object. */
export function oncePer<Key extends WeakKey, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const made = new WeakMap<Key, { readonly it: Made }>();
  return (key) => {
    const known = made.get(key) ?? { it: make(key) };
    made.set(key, known);
    return known.it;
  };
}

/** Nothing is kept for longer texts: memory stays small. */
const longestKept = 500;

/** Makes something once for each text, and forgets the earliest if there are more than `limit`. */
export function oncePerText<Made>(make: (text: string) => Made, limit: number): (text: string) => Made {
  const made = new Map<string, { readonly it: Made }>();
  return (text) => {
    const known = made.get(text);
    if (known !== undefined) return known.it;
    const it = make(text);
    if (text.length > longestKept) return it;
    if (made.size >= limit) for (const oldest of [...made.keys()].slice(0, Math.ceil(limit / 8))) made.delete(oldest);
    made.set(text, { it });
    return it;
  };
}
