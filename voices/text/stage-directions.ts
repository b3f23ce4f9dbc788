/** Text between marks that may be a stage direction. */
interface MarkedText {
  readonly inside: string;
  /** The last character spoken before it; '' if there is none. */
  readonly before: string;
  /** The first non-space character after it: '\n' at a line end, '' at the end of the text. */
  readonly after: string;
}

/** Words hardly ever emphasised in speech, so they are stage directions anywhere. */
const gestures =
  /^(?:smiles|smiling|laughs|laughing|sighs|sighing|nods|nodding|bows|bowing|chuckles|chuckling|grins|grinning|winks|winking|shrugs|shrugging|giggles|giggling|gasps|gasping|coughs|coughing|pauses|pausing|smirks|smirking|frowns|frowning|whispers|whispering|blushes|blushing|curtsies|curtsying|scoffs|snorts|sobs|sobbing|yawns|yawning|shudders|laughter|pause|sigh|beat)$/;

/** The same in Chinese: "（笑）", "（叹气）". */
const chineseGestures =
  /^(?:\p{Script=Han}{0,4}[笑叹哭咳泣]\p{Script=Han}{0,2}|(?:轻轻|缓缓|连连)?(?:点了?点?头|摇了?摇?头|鞠躬|拱手|抱拳|皱眉|沉默|停顿)|[低小轻大]声)$/u;

/** Words that open a direction that does not begin with its verb: "in a low voice", "he bows", "softly". */
const directionOpeners = /^(?:he|she|they|aside|in|to|with|without|after|under|from|at|still|half|\p{L}{3,}ly)$/u;

/** Words that end in s or ing but are not the verb of a direction. */
const notVerbs = new Set(
  (
    'this is was has does as us his its hers ours yours theirs always sometimes perhaps besides yes thus unless less across ' +
    'towards afterwards plus versus nothing something anything everything during being having these those'
  ).split(' '),
);

/**
 * Distinguishes a stage direction such as "bows deeply" from words that are only emphasised or parenthesised. A
 * direction stands between sentences and describes the speaker in the third person; inside a sentence only a plain
 * gesture counts as one.
 */
export function isStageDirection({ inside, before, after }: MarkedText): boolean {
  const text = inside.trim().toLowerCase();
  const first = /^[\p{L}'’-]+/u.exec(text)?.[0] ?? '';
  const startsApart = before === '' || /[.!?…。！？，,;；:："”’」』)）—–-]/u.test(before);
  if (/\p{N}/u.test(text)) return false;
  if (/\p{Script=Han}/u.test(text)) return chineseGestures.test(text) || (startsApart && text.length <= 60);
  if (gestures.test(first)) return true;
  const endsApart = after === '' || /[\n\p{Lu}\p{N}"“‘「『([*（—…\p{Script=Han}]/u.test(after);
  if (!startsApart || !endsApart) return false;
  if (/\b(?:i|i'm|i’m|i'll|i’ll|me|my|we|our|us|you|your)\b/u.test(text) || /[!?]["”’]?$/u.test(text)) return false;
  const words = text.match(/[\p{L}'’-]+/gu) ?? [];
  return words.length === 0 || directionOpeners.test(first) || words.slice(0, 3).some(isVerbOfThirdPerson);
}

function isVerbOfThirdPerson(word: string): boolean {
  return /(?:[^s]s|ing)$/u.test(word) && word.length > 3 && !notVerbs.has(word);
}
