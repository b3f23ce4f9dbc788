/**
 * Backchannels, which show that a listener is there and ask for nothing: continuers and assessments (Yngve 1970; Clancy
 * et al. 1996 for Chinese), and how recognizers spell coughs and laughs. "No", "wait" and "stop" are not among them,
 * nor is "sorry".
 */
const words = new Set(
  [
    'ah aha ahem alright awesome cool er fine gosh great ha haha heh hm hmm hmmm huh indeed interesting mhm mm mmhm mmhmm mmm nice oh ok okay',
    'ooh perfect really right sure uh uhhuh uhuh um umm wow yeah yep yes yup true exactly absolutely totally wonderful good lovely',
    'genau ja stimmt klar achso aja ach so d’accord daccord oui ouais voilà voila sí si claro vale ajá はい ええ うん うんうん そう なるほど へえ 네 응 음',
  ]
    .join(' ')
    .split(' '),
);

/** Backchannels of several words. */
const phrases = new Set(
  'uh huh|mm hm|mm hmm|mhm mhm|i see|i know|got it|of course|oh my|go on|makes sense|fair enough|that is right|thats right|you know|ah so|is that so|no way|for sure|all right|of course'.split(
    '|',
  ),
);

/** Chinese is written without spaces, so its continuers are matched as a run. */
const chinese =
  /^(?:嗯|恩|哦|噢|喔|啊|呵|哈|唉|哎|诶|欸|呃|额|对|對|是|好|行|的|呀|吧|了|啦|没错|沒錯|当然|當然|真的吗?|这样|原来如此|明白|知道)+$/u;

/** Most words in a backchannel: "yeah yeah okay right". */
const mostWords = 4;

/** Returns true if the text is only a backchannel, such as "mm-hm". Empty text is not. */
export function isBackchannel(text: string): boolean {
  const spoken = wordsOf(text);
  if (spoken.length === 0 || spoken.length > mostWords) return false;
  if (chinese.test(spoken.join(''))) return true;
  for (let index = 0; index < spoken.length; index += 1) {
    if (words.has(spoken[index] ?? '')) continue;
    if (!phrases.has(spoken.slice(index, index + 2).join(' '))) return false;
    index += 1;
  }
  return true;
}

/** Splits a text into words, in lower case and without punctuation; "mm-hm" is two. */
export function wordsOf(text: string): string[] {
  return (
    text
      .toLowerCase()
      .normalize('NFKC')
      .replaceAll(/['’]/gu, '')
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}
