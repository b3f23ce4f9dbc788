/** Text in brackets or emphasis marks that may not be speech. */
interface Marked {
  readonly mark: string;
  readonly inside: string;
}

/** A note about the text to the reader ("OOC: is this all right?"), outside the role-play. */
export function isNote(inside: string): boolean {
  return /^[\s([（]*(?:ooc|out of character|(?:author['’]?s )?note|a\/n|end of (?:role-?play|scene)|备注|注|场外|系统)\s*(?:[:：,，]|$)/iu.test(
    inside,
  );
}

/** A stage direction so short and plain that it counts inside a sentence too, such as "（笑）". */
export function isPlainGesture(inside: string): boolean {
  return /^(?:\p{Script=Han}{0,4}[笑叹哭咳泣]\p{Script=Han}{0,2}|(?:轻轻|缓缓|连连)?(?:点了?点?头|摇了?摇?头|鞠躬|拱手|抱拳|皱眉|沉默|停顿)|[低小轻大]声)$/u.test(
    inside.trim(),
  );
}

/**
 * A stage direction seen from outside, such as "bows deeply", "in a low voice" or "笑". The TTS text filter drops some
 * that are missed here.
 */
export function looksLikeAction({ mark, inside }: Marked): boolean {
  const text = inside.trim();
  const lower = text.toLowerCase();
  const isStarred = /^[*_]/u.test(mark);
  if (/\p{Script=Han}/u.test(text))
    return text.length <= 60 && !/[你您吗？]/u.test(text) && (isStarred || !text.includes('我'));
  if (isStarred && /^i \p{L}/u.test(lower)) return !speechVerbs.test(lower) && !/[?!]$/u.test(lower);
  if (/\b(?:i|i'm|i’m|me|my|we|our|us|you|your|this|is|was|perhaps|yes|always)\b|[?!]$/u.test(lower)) return false;
  // One small word between sentences ("nervous") is a direction, unless people say it by itself.
  if (/^\p{Ll}{3,}$/u.test(text))
    return !/^(?:please|thanks|sorry|never|maybe|indeed|really|nothing|none|almost)$/u.test(text);
  return /^(?:(?:he|she|they|in an?|with|aside)\b|\p{L}{3,}ly\b|\p{L}{2,}[^s\P{L}]s\b|\p{L}{2,}ing\b)/u.test(lower);
}

/** Verbs of emphasized first-person speech ("*I know that*"), as opposed to a direction that tells an action. */
const speechVerbs =
  /^i (?:\p{L}+ly |never |always |do |did |also |still |just )?(?:am|was|have|had|has|know|knew|mean|meant|think|thought|love|loved|hate|hated|will|would|can|could|cannot|must|should|shall|may|might|want|wanted|need|said|say|told|tell|like|hope|wish|believe|remember|saw|see|never|always|do|did|don|only)\b/u;
