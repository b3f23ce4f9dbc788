/** Parts of a message that are read, the last ones. */
const mostParts = 16;

/** A sentence or clause of a message, in lower case, without fillers and marks. */
export interface Part {
  readonly text: string;
  readonly isAsked: boolean;
}

/** Sentences and clauses in lower case, without fillers and punctuation. */
export function partsOf(userMessage: string): Part[] {
  const parts = userMessage.match(/[^.!?;,。！？；，…]+[.!?;,。！？；，…]*/gu) ?? [];
  return parts.slice(-mostParts).flatMap((part) => {
    const text = part
      .toLowerCase()
      .replaceAll(/[’‘`]/g, "'")
      .replaceAll('您', '你')
      .replaceAll(/[^\p{L}\p{N}' ]+/gu, ' ')
      .replaceAll(/\b(?:u+m+|u+h+|e+r+m*|h+m+)\b/g, ' ')
      .replaceAll(/ +/g, ' ')
      .trim();
    return text === '' || interjection.test(text) ? [] : [{ text, isAsked: isQuestion(part, text) }];
  });
}

/** Words that accompany a message and have no meaning alone. */
const interjection =
  /^(?:(?:oh|ah|aw+|well|so|hm+|you know|i mean|to be honest|by the way|anyway|you see|and|but|唉|啊|哦|嗯嗯|说实话|对了) ?)+$/u;
const asks =
  /^(?:and |but |so |then |well |ok |okay |oh )*(?:who|whom|whose|what|when|where|why|how|which|is|are|am|was|were|do|does|did|have you|has|had|can|could|will|would|should|shall|may|might|must|tell me|tell us|show me|explain|describe|give me|let us|let's|sing|play|talk|speak|say)(?:'s|'re|'d|n't)?\b/u;
const asksChinese =
  /[吗呢么不没]$|(\p{Script=Han})不\1|啥|谁|(?<!没|没有)什么|怎么|为什么|为啥|哪|几[岁个点]|多[大少久远高重快]|是不是|有没有|会不会|能不能|可不可以|好不好|讲讲|说说|给我讲|告诉我/u;

/** True for a question or a request to say something. */
export function isAskedIn(text: string): boolean {
  return partsOf(text).some(({ isAsked }) => isAsked);
}

function isQuestion(part: string, text: string): boolean {
  return /[?？]/u.test(part) || asks.test(text) || asksChinese.test(text);
}
