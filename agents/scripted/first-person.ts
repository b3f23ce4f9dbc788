/** Irregular verbs of a third person, and the same of "I". */
const irregular: Readonly<Record<string, string>> = {
  is: 'am',
  has: 'have',
  does: 'do',
  "isn't": 'am not',
  "hasn't": "haven't",
  "doesn't": "don't",
  was: 'was',
  were: 'was',
};
/** Verbs that often follow "and" after the subject of a description; other words in -s there may be nouns. */
const commonVerbs =
  'is has does works lives loves likes hates keeps runs speaks wants knows wears carries dreams hides fights serves makes sells ' +
  'enjoys fears trusts hopes tries talks laughs smiles plays reads writes sings drinks eats spends travels teaches studies ' +
  'collects guards rules leads never prefers dislikes misses believes thinks owns rides sails cooks paints treats calls says';
const secondVerb = new RegExp(
  String.raw`\b(and|but|or|then|also|always|never|often|still) (${commonVerbs.split(' ').join('|')})\b`,
  'gu',
);
const adverb = String.raw`(?:(?:also|always|never|often|still|now|once|usually|secretly|currently|only|rarely|sometimes|\p{L}+ly) )?`;

/**
 * Rewrites sentences of a description for its character to say: "Mara keeps an inn. She hates rum." becomes "I keep an
 * inn. I hate rum." Crude: only the subject, its verb and possessives change; sentences about others stay as they are.
 */
export function inFirstPerson(text: string, name: string): string {
  if (/\p{Script=Han}/u.test(text)) return chineseFirstPerson(text, name);
  const names = [name, name.split(' ')[0] ?? name].map((each) => RegExp.escape(each)).join('|');
  const own = new RegExp(String.raw`^(?:the )?(?:${names}|she|he|they|you)(?='s\b|’s\b|\b)`, 'iu');
  const possessive = new RegExp(String.raw`\b(?:${names})['’]s\b`, 'giu');
  return sentences(text)
    .map((sentence) => {
      const plain = sentence.replace(possessive, 'my');
      if (/^(?:an?|one) /iu.test(plain) && !/^an? \p{L}+ (?:is|was|has|had) /iu.test(plain))
        return oneself(`I am ${lowerFirst(plain)}`);
      if (/^(?:my|her|his|your|their) /iu.test(plain)) return oneself(upperFirst(plain.replace(/^\p{L}+/u, 'my')));
      const isOfVisitor = /^the visitor\b/iu.test(plain);
      if (!own.test(plain) && !isOfVisitor) return plain;
      const named = plain
        .replace(isOfVisitor ? /^$/u : own, 'I')
        .replace(new RegExp(String.raw`\b(?:${names})\b`, 'gu'), 'me');
      return oneself(withVerb(named));
    })
    .join(' ');
}

function withVerb(sentence: string): string {
  return sentence
    .replace(
      new RegExp(String.raw`^I (${adverb})([\p{L}'’]+)`, 'u'),
      (_, before: string, verb: string) => `I ${before}${verbOfI(verb)}`,
    )
    .replaceAll(
      new RegExp(String.raw` (?:she|he) (${adverb})([\p{L}'’]+)`, 'gu'),
      (_, before: string, verb: string) => ` I ${before}${verbOfI(verb)}`,
    )
    .replaceAll(secondVerb, (whole: string, before: string, verb: string, at: number, all: string) =>
      /\b(?:who|which|that)\b[^,;]*$/u.test(all.slice(0, at)) ? whole : `${before} ${verbOfI(verb)}`,
    );
}

/** Pronouns of a sentence about oneself. */
function oneself(sentence: string): string {
  return sentence
    .replaceAll(/\b(?:herself|himself|yourself)\b/gu, 'myself')
    .replaceAll(/\b(?:him|her)(?=\s*[.,;!?]|\s+(?:in|on|at|to|from|and|for|with|as|when|if|that|by)\b)/gu, 'me')
    .replaceAll(/\b(?:her|his|your)\b/gu, 'my')
    .replaceAll(/\byou are\b/gu, 'I am');
}

function verbOfI(verb: string): string {
  const known = irregular[verb.replace('’', "'")];
  if (known !== undefined) return known;
  if (verb === 'are') return 'am';
  if (/[^aeiou]ies$/u.test(verb)) return verb.replace(/ies$/u, 'y');
  if (/(?:ch|sh|ss|x|zz|o)es$/u.test(verb)) return verb.slice(0, -2);
  return /[^su]s$/u.test(verb) ? verb.slice(0, -1) : verb;
}

function chineseFirstPerson(text: string, name: string): string {
  return sentences(text)
    .map((sentence) => {
      const isOwn = sentence.startsWith(name) || /^[他她你]/u.test(sentence);
      return isOwn ? sentence.replaceAll(name, '我').replaceAll(/[他她你](?!们)/gu, '我') : sentence;
    })
    .join('');
}

/** Splits a text into sentences with their punctuation; lines are sentences too. */
export function sentences(text: string): string[] {
  return (text.match(/(?:[^.!?。！？\n]|\.(?=\S))+[.!?。！？]*["”’']?/gu) ?? [])
    .map((one) => one.trim())
    .filter((one) => /\p{L}/u.test(one));
}

/** Speaks of the listener as "you": a scenario calls them the visitor. */
export function toListener(text: string): string {
  return text
    .replaceAll(/\bthe visitor['’]s\b/giu, 'your')
    .replaceAll(/\b(the visitor) ([\p{L}'’]+)/giu, (_, whom: string, verb: string) => {
      const spoken = verb === 'is' ? 'are' : verb === 'was' ? 'were' : verbOfI(verb);
      return `${whom.startsWith('T') ? 'You' : 'you'} ${spoken}`;
    })
    .replaceAll(/\bthe visitor\b/giu, 'you');
}

function lowerFirst(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}

export function upperFirst(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
