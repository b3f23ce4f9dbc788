/**
 * Abbreviations after which no sentence ends: those that the English model of Punkt knows (Kiss and Strunk 2006, as
 * shipped with NLTK), apart from its rare initials.
 */
const abbreviations = new Set(
  (
    'adm ala ariz aug ave bros calif chg cie co col colo conn corp cos ct dec dr feb fla fri ft ga gen ill inc jan jr ' +
    'kan ky lt ltd maj messrs mg mich minn mr mrs ms nev nov oct ok okla ore pa prof rep reps sen sep sept sr st sw ' +
    'tenn tues va vs vt wash wed wis yr c d e f g h k l m n p r s t v w ' +
    'a.m p.m d.c j.p l.a n.c n.j n.y ph.d s.s u.k u.n u.s u.s.a w.c'
  ).split(' '),
);

const wordBreak = /[)";}\]*:@'({[!?]/.source;
const longMark = /-{2,}|\.{2,}|(?:\.\s){2,}\./.source;
const wordEnd = `(?=\\s|$|${wordBreak}|${longMark}|,(?=$|\\s|${wordBreak}|${longMark}))`;
const piece = new RegExp(`${longMark}|(?![("\`{[:;&#*@)}\\],-])\\S+?${wordEnd}|\\S`, 'gu');
/** A mark that may end a sentence, with what follows it. */
const possibleEnd = new RegExp(`[.?!](?=(?:${wordBreak})|\\s+(\\S+))`, 'gu');
/** Quotation marks and brackets that close the sentence before them. */
const closing = /["')\]}]+?(?:\s+|(?=--)|$)/muy;

/**
 * Divides a text in lower case into sentences, as Punkt does, on which NLTK's `word_tokenize` is built. Without capital
 * letters little is left of its rules: `?`, `!` and full stops end sentences, but not those of dots in a row,
 * abbreviations, and initials and numbers before a letter.
 */
export function lowerCaseSentences(text: string): string[] {
  const sentences: string[] = [];
  let start = 0;
  for (const { end, next } of endsIn(text)) {
    // Closing marks of the sentence are at the start of the next one.
    closing.lastIndex = next;
    const closed = closing.exec(text)?.[0] ?? '';
    sentences.push(text.slice(start, closed === '' ? end : next + closed.trimEnd().length));
    start = next + closed.length;
  }
  return [...sentences, text.slice(start).trimEnd()].filter((sentence) => sentence !== '');
}

interface SentenceEnd {
  /** Place behind the mark. */
  readonly end: number;
  /** Place of what follows it. */
  readonly next: number;
}

/** Ends of sentences; of several possible ends in one word the last counts. */
function endsIn(text: string): SentenceEnd[] {
  const words: (SentenceEnd & { readonly context: string })[] = [];
  let from = 0;
  let before = 0;
  for (const match of text.matchAll(possibleEnd)) {
    const space = text.slice(before, match.index).search(/\s\S*$/u);
    if (space >= 0) from = before + space + 1;
    const end = match.index + 1;
    const next = match[1] === undefined ? end : end + text.slice(end).search(/\S/u);
    const context = text.slice(from, next) + (match[1] ?? text[end] ?? '');
    // A mark after a blank is a sentence of its own.
    if ((words.at(-1)?.end ?? 0) > from + 1) words.pop();
    words.push({ end, next, context });
    before = match.index;
  }
  return words.filter(({ context }) => hasEnd(context));
}

function hasEnd(context: string): boolean {
  const pieces = context.match(piece) ?? [];
  return pieces.slice(0, -1).some((each, at) => isEnd(each, pieces[at + 1] ?? ''));
}

function isEnd(each: string, next: string): boolean {
  if (/^[.?!]$/.test(each)) return true;
  if (!each.endsWith('.') || /^\.\.+$/.test(each)) return false;
  const word = each.slice(0, -1);
  if (abbreviations.has(word) || abbreviations.has(word.split('-').at(-1) ?? '')) return false;
  const isInitialOrNumber = /^(?:\p{L}|-?[.,]?\d[\d,.-]*)$/u.test(word);
  return !(isInitialOrNumber && /^(?:\p{Ll}|[;:,.!?]$)/u.test(next));
}
