import type { TextCues } from './completeness.ts';

const wordsOf = (list: string): ReadonlySet<string> => new Set(list.split(' '));

/**
 * Word classes that an English sentence seldom ends with; each is a cue. A word counts for the first class that has it.
 */
const openEndings: Readonly<Record<string, ReadonlySet<string>>> = {
  filler: wordsOf('um uh er erm eh hmm uhm mm'),
  article: wordsOf("a an the my your our their its every each another whose o'"),
  conjunction: wordsOf(
    'and or but because although unless until while whereas nor if whether than as since cause plus',
  ),
  preposition: wordsOf(
    'of from into onto between during upon towards toward among against without within at by per via',
  ),
  particle: wordsOf('to for with about in on over under after before through like up out off around near behind down'),
  subject: wordsOf(
    "i he she we they who i'm you're we're they're he's she's it's that's there's i've we've i'll you'll we'll",
  ),
  auxiliary: wordsOf(
    'is are was were am be been being has have had having do does did will would can could shall should may might must ' +
      "don't doesn't didn't isn't aren't wasn't weren't won't wouldn't can't couldn't shouldn't haven't hasn't hadn't ain't",
  ),
  questionWord: wordsOf('what how why when where which'),
  verb: wordsOf(
    'want wants wanted need needs think thinks thought mean means guess suppose tell give take make let get say says said ' +
      "seem seems put bring find got going trying wanna gonna gotta know knew see saw call called keep hope let's",
  ),
  pointer: wordsOf('this that these those some any no his her such other many much both all few several'),
  degree: wordsOf(
    'very really quite too so more most less not never always just also only almost even rather still well',
  ),
  number: wordsOf(
    'zero one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty sixty seventy eighty ' +
      'ninety hundred thousand million january february march april june july august september october november december',
  ),
};

/** Short answers, each a complete turn by itself. */
const shortAnswers = new RegExp(
  `^(?:${[
    '(?:oh |well |ah )?(?:yes|yeah|yep|yup|no|nope|nah|okay|ok|sure|right|alright|all right|fine|great|good|perfect|exactly)',
    '(?:yes |no |okay |oh )?(?:please|thanks|thank you|thank you (?:very|so) much|many thanks)(?: sir| madam)?',
    "(?:of course|certainly|absolutely|definitely|indeed|never|maybe|perhaps|not (?:yet|now|really|at all)|i see|got it|that's (?:all|it|right|fine))",
    '(?:hello|hi|hey|hi there|hello there|good (?:morning|evening|afternoon|night|day)|bye|goodbye|good bye|see you|farewell)',
    "(?:i don't know|i don't think so|i think so|i do|i did|i agree|me too|you too|sorry|stop|wait|help|go on|go ahead|come in|really)",
    "(?:yes|no),? (?:i|you|we|they|he|she|it|that) (?:am|is|are|was|were|do|does|did|can|could|will|would|have|has|must|should)(?: not|n't)?",
  ].join('|')})$`,
);
const helper =
  "(?:is|are|was|were|am|do|does|did|have|has|had|can|could|will|would|shall|should|may|might|must|isn't|aren't|don't|doesn't|didn't|won't|wouldn't|can't|couldn't)";
const question = new RegExp(
  `^(?:(?:and|so|but|well|oh|then|now) )?(?:what|how|why|who|whose|whom|which|what's|who's|where's|how's|when's|(?:(?:when|where) )?${helper})\\b`,
);
const subordinator =
  /^(?:(?:and|but|so|well) )?(?:if|when|whenever|because|although|though|while|since|after|before|unless|once|until|as)\b/;
const fillerPhrase =
  /\b(?:you know|i mean|let me (?:see|think)|sort of|kind of|how (?:do|can) i (?:say|put) (?:it|this))$/;

/**
 * Extracts cues from the last sentence of a transcript: the class of its last word, its length, question or answer, a
 * subordinate clause without its main clause, and the recognizer's final punctuation mark.
 */
export function englishCues(text: string): TextCues {
  const trimmed = text.trim().replaceAll('’', "'");
  const sentence = trimmed.split(/(?<=[.!?])\s+(?=\p{L})/u).at(-1) ?? '';
  const words = sentence.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];
  const plain = words.join(' ');
  const isAnswer = shortAnswers.test(plain);
  const waits = subordinator.test(plain) && !/,\s+\S+\s+\S+/.test(sentence) && !trimmed.endsWith('?');
  return {
    answer: flag(isAnswer),
    waits: flag(waits),
    fillerPhrase: flag(fillerPhrase.test(plain)),
    ...markCues(trimmed, question.test(plain) && !isAnswer),
    ...(isAnswer ? {} : endingCues(words)),
  };
}

function markCues(text: string, asks: boolean): TextCues {
  const isMarked = /\?["']?$/.test(text);
  // A recognizer without capitals and punctuation says nothing by leaving the last mark out.
  const isPunctuated = /[\p{Lu}.,!?]/u.test(text);
  return {
    asked: flag(asks && isMarked),
    unasked: flag(asks && !isMarked && isPunctuated),
    questionMark: flag(isMarked && !asks),
    comma: flag(/(?:[,;:–—-]|\.{2,}|…)$/.test(text)),
    unmarked: flag(isPunctuated && /[\p{L}\p{N}]["']?$/u.test(text)),
  };
}

function endingCues(words: readonly string[]): TextCues {
  const last = words.at(-1) ?? '';
  const kind = Object.keys(openEndings).find((kind) => openEndings[kind]?.has(last));
  const counts = kind === 'number' && openEndings['number']?.has(words.at(-2) ?? '') === true;
  return {
    oneWord: flag(words.length === 1),
    twoWords: flag(words.length === 2),
    threeWords: flag(words.length === 3),
    counting: flag(counts),
    digits: flag(/\p{N}$/u.test(last)),
    possessive: flag(kind === undefined && /\p{L}'s?$/u.test(last)),
    ...(kind === undefined ? {} : { [kind]: 1 }),
  };
}

function flag(fact: boolean): number {
  return fact ? 1 : 0;
}
