/** Words hardly ever emphasised in speech, so they are stage directions anywhere. */
const gestures =
  /^(?:smiles|smiling|laughs|laughing|sighs|sighing|nods|nodding|bows|bowing|chuckles|chuckling|grins|grinning|winks|winking|shrugs|shrugging|giggles|giggling|gasps|gasping|coughs|coughing|pauses|pausing|smirks|smirking|frowns|frowning|whispers|whispering|blushes|blushing|curtsies|curtsying|scoffs|snorts|sobs|sobbing|yawns|yawning|shudders|laughter|pause|sigh|beat)$/;

/** The same in Chinese: "（笑）", "（叹气）". */
const chineseGestures =
  /^(?:\p{Script=Han}{0,4}[笑叹哭咳泣]\p{Script=Han}{0,2}|(?:轻轻|缓缓|连连)?(?:点了?点?头|摇了?摇?头|鞠躬|拱手|抱拳|皱眉|沉默|停顿)|[低小轻大]声)$/u;

/** A stage direction so short and plain that it counts inside a sentence too: "smiles broadly", "（笑）". */
export function isGesture(inside: string): boolean {
  const text = inside.trim().toLowerCase();
  const [first = ''] = /^[\p{L}'’-]+/u.exec(text) ?? [];
  return chineseGestures.test(text) || (gestures.test(first) && !/\p{N}/u.test(text));
}

/** Verbs of emphasized first-person speech ("*I know that*"), as opposed to a direction that tells an action. */
const speechVerbs =
  /^i (?:\p{L}+ly |never |always |do |did |also |still |just )?(?:am|was|have|had|has|know|knew|mean|meant|think|thought|love|loved|hate|hated|will|would|can|could|cannot|must|should|shall|may|might|want|wanted|need|said|say|told|tell|like|hope|wish|believe|remember|saw|see|never|always|do|did|don|only)\b/u;

/**
 * A stage direction between sentences, seen from outside, such as "bows deeply", "in a low voice" or "缓缓起身", as
 * opposed to words that are only emphasised or parenthesised. In asterisks it may also be written in the first person.
 */
export function looksLikeDirection(inside: string, isStarred: boolean): boolean {
  const text = inside.trim();
  const lower = text.toLowerCase();
  if (/\p{N}/u.test(text)) return false;
  if (/\p{Script=Han}/u.test(text))
    return text.length <= 60 && !/[你您吗？]/u.test(text) && (isStarred || !text.includes('我'));
  if (isStarred && /^i \p{L}/u.test(lower)) return !speechVerbs.test(lower) && !/[?!]$/u.test(lower);
  if (/\b(?:i|i'm|i’m|me|my|we|our|us|you|your|this|is|was|perhaps|yes|always)\b|[?!]$/u.test(lower)) return false;
  // One small word between sentences ("nervous") is a direction, unless people say it by itself.
  if (/^\p{Ll}{3,}$/u.test(text))
    return !/^(?:please|thanks|sorry|never|maybe|indeed|really|nothing|none|almost)$/u.test(text);
  if (/^(?:(?:he|she|they|in an?|with|aside)\b|\p{L}{3,}ly\b|\p{L}{2,}[^s\P{L}]s\b|\p{L}{2,}ing\b)/u.test(lower))
    return true;
  const words = lower.match(/[\p{L}'’-]+/gu) ?? [];
  const isAside = words.length > 6 || isSentence(text);
  return (isStarred || !isAside) && words.slice(0, 3).some(isVerbOfThirdPerson);
}

/** True for three or more words on at most three lines, from a capital letter to the mark of a sentence's end. */
export function isSentence(text: string): boolean {
  if (!/^\p{Lu}/u.test(text) || !/[.!?]$/u.test(text)) return false;
  return (text.match(/\s/gu)?.length ?? 0) >= 2 && (text.match(/[\n\r\u2028\u2029]/gu)?.length ?? 0) <= 2;
}

/** Words that end in s or ing but are not the verb of a direction. */
const notVerbs = new Set(
  (
    'this is was has does as us his its hers ours yours theirs always sometimes perhaps besides yes thus unless less across ' +
    'towards afterwards plus versus nothing something anything everything during being having these those'
  ).split(' '),
);

function isVerbOfThirdPerson(word: string): boolean {
  return /(?:[^s]s|ing)$/u.test(word) && word.length > 3 && !notVerbs.has(word);
}
