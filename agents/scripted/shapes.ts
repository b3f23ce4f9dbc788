import { isFrame, searchTerms } from '../retrieval/words.ts';

/**
 * Form of a message apart from its topic. Questions: for a person, a place, a time, a reason, an opinion, a number, one
 * of two things (`either`)… or for yes or no (`whether`, `whether-you` of the character itself). Requests: to do, to allow, to advise, to tell of
 * something, or whether the character knows a thing. Statements: about the character (`you`), the user (`self`), or
 * anything else.
 */
export type Shape =
  | 'tell'
  | 'opinion'
  | 'either'
  | 'number'
  | 'who'
  | 'where'
  | 'when'
  | 'why'
  | 'how'
  | 'what'
  | 'request'
  | 'urge'
  | 'leave'
  | 'advice'
  | 'knowing'
  | 'whether-you'
  | 'whether'
  | 'you'
  | 'self'
  | 'remark';

type Pattern = readonly [Shape, RegExp];

const lead =
  /^(?:(?:and|but|so|then|well|ok|okay|oh|hey|please|now|just|actually|yes|no|right|sorry|hm+|u[mh]+|er+|wow|anyway|all right|alright|come on|guess what|you know|i mean|to be honest|honestly|(?:i|we) (?:think|believe|guess|suppose|bet|feel like)(?: that)?) )+/u;
const indirect =
  /^(?:(?:can|could|would|will) you (?:please )?(?:tell|show|explain to) (?:me|us)|tell me|tell us|do you (?:remember|think|believe)|i(?:'d like| want| would like) to know|i wonder|may i ask) (?=(?:who|whose|what|which|where|when|why|how)\b)/u;

/** English; the first that matches counts. */
const english: readonly Pattern[] = [
  [
    'either',
    /^(?!.*\bany\b)(?:do|does|did|are|is|was|were|would|will|which|what|who|have|has|had|\p{L}+ or)\b.*\b\p{L}+ or (?!not\b|so\b|what|something|anything|anybody|anyone|more\b|less\b|two\b|three\b|sisters\b)(?:\p{L}+ ?){1,5}\?$/u,
  ],
  [
    'advice',
    /^(?:should|shall|ought) (?:i|we)\b|\b(?:should i|must i|i should)(?: do| go| say)?\b.*\?$|^what (?:do|can|should) i do\b|^any (?:tips?|advice|ideas?)\b/u,
  ],
  [
    'leave',
    /^(?:can|could|may|might) (?:i|we)\b|^(?:is it|would it be) (?:ok|okay|all right|alright|possible)\b|^do you mind (?:if|my|\p{L}+ing)\b|^let me (?:see|join|come|have|try|go|in|out|help|ask)\b/u,
  ],
  ['tell', /^(?:(?:can|could|would) you )?(?:tell|talk|speak|describe|explain)\b|^(?:what|how) about\b/u],
  [
    'opinion',
    /^what (?:do|would) you (?:think|make)\b|^what (?:do|would) you say to (?:that|it|this)\b|^what did you (?:think|make) of\b|^what(?:'s| is) your (?:opinion|view|take)\b|^how do you (?:like|feel about)\b|^do you (?:agree|think|believe (?!in))/u,
  ],
  [
    'whether-you',
    /^can you (?!please|help|stop|wait|repeat|explain|sing|dance|tell|show|give)\p{L}+(?: (?!me\b|us\b|my\b|it\b|that\b|this\b|for\b|with\b|to\b)\p{L}+){0,2}\??$/u,
  ],
  [
    'number',
    /^how (?:many|much|long(?! ago)|far|fast|quick|big|tall|old|often|deep|high|heavy|large|small|wide|rich|hot|cold)\b|^(?:at )?what (?:age|number|price)\b|^what(?:'s| is) (?:your|the) (?:age|price|number)\b/u,
  ],
  ['where', /^(?:(?:in|to|from) )?(?:where(?:'s|'re)?|(?:which|what) (?:country|city|place|town|street))\b/u],
  [
    'when',
    /^(?:when(?=\?|$| (?:do|does|did|is|are|was|were|will|would|can|could|should|has|have|had|exactly)\b)|how long ago|(?:in )?(?:what|which) (?:year|time|day|date|month|century))\b/u,
  ],
  ['who', /^(?:(?:to|with|for|of|from|by) )?(?:who(?:m|se|'s|'re)?)\b/u],
  ['what', /^(?:the|your) (?:\p{L}+est|best|worst|first|last|other|second|next|most \p{L}+)(?: \p{L}+)?\?$/u],
  ['why', /^(?:why|how come|what for|for what reason|what made you(?! (?:laugh|cry|smile|happy|sad|angry)))\b/u],
  [
    'knowing',
    /^(?:do|did|don't) you (?:even )?know\b|^have you (?:ever )?(?:heard|read|seen|watched|met|tried|used|played)\b/u,
  ],
  [
    'request',
    /^would you (?:please\b|help\b|mind\b|.*\b(?:me|us|my|our)\b)|^(?:can|could|will|won't|can't)(?: not)? you (?!have|ever|be|like|want|prefer|rather|say|call|agree|still)\b/u,
  ],
  [
    'whether-you',
    /^(?:do|did|are|were|have|had|would|will|can|could|don't|didn't|aren't|weren't|haven't|wouldn't|won't|can't|couldn't)(?: not)? (?:you|the (?:two|three|four) of you)\b/u,
  ],
  [
    'whether',
    /^(?:is|are|am|was|were|do|does|did|has|have|had|can|could|will|would|may|might|must|isn't|aren't|wasn't|weren't|don't|doesn't|didn't(?! (?:mean|want|know|think|reali[sz]e|expect|sleep|even)\b)|hasn't|haven't|can't|won't)\b/u,
  ],
  ['how', /^how\b/u],
  ['what', /^(?:in |at |on |for |with )?(?:what|which)(?:'s|'re)?\b/u],
  [
    'request',
    /^(?:print|output|list|translate|sing|recite|say|show|give me|make|guess|teach|help|play|dance|draw|write|count|spell|translate|imagine|pretend|let's|let us|bring me|read|prove|promise)\b/u,
  ],
  [
    'urge',
    /^(?:you|we) (?:should|must(?! be (?!careful|patient|quiet|nicer|kind|polite)| have| feel| miss| know)|have to|ought to|need to|can't just|had better)\b|^(?:give|try|come|bring|take|cheer|be|don't|do not|do|wish|look|listen|remember|go|stay|keep|mind|watch|put|leave|think|trust|believe|ask|call|eat|drink|smile|never|always) (?!mind\b)\p{L}/u,
  ],
  [
    'you',
    /^(?:your?(?!'| (?:wouldn't|won't|would not|will not|never) (?:believe|guess))|you'(?:re|ve|ll)|you'd(?! (?:love|like|hate|enjoy|be (?:surprised|amazed|shocked|welcome))))\b(?! (?:can|can't|cannot|never know|know)\b)|^i (?:think|guess|believe|bet|find|heard|know|read|see|feel|hope)(?: that)? you\b/u,
  ],
  ['self', /^(?:i|i'(?:m|ve|d|ll)|my|mine|we|we'(?:re|ve|ll|d)|our|me)\b/u],
];

/** Chinese; the first that matches counts. */
const chinese: readonly Pattern[] = [
  ['either', /\p{Script=Han}还是(?!不|很|有|要|得|会)\p{Script=Han}/u],
  [
    'advice',
    /我(?:到底)?(?:该不该|应不应该|应该|该|要不要).*(?:吗|呢|？|么|什么|怎么|哪)|我(?:该|要)怎么|(?:我.*|^)有(?:什么|没有)(?:建议|办法)|我.*有(?:什么|没有)?(?:秘诀|诀窍)/u,
  ],
  [
    'leave',
    /^(?:那)?(?:我|我们)?(?:可以|能不能|可不可以|能|能否).*我|^(?:那)?(?:我|我们|咱们?)(?:可以|能不能|可不可以|能|能否)|^让我/u,
  ],
  [
    'request',
    /能不能|可不可以|可以.*吗|^(?:那)?(?:请|你|快|再)*(?:给|帮|教|唱|来|变|猜|陪|借|带|替|夸)(?!什么|谁)|你(?:能|会)(?:帮|给|替|教|借|陪|带)|给(?:我|他|她|它)?.{0,6}(?:呗|吧|一下)$|加个/u,
  ],
  ['urge', /^(?:你)?(?:别|不要|千万|得|要|应该|必须|可要|快点?)(?!说什么)/u],
  ['tell', /^(?:请|你|给我|跟我|再)*(?:讲讲|说说|讲一讲|说一说|聊聊|谈谈)/u],
  ['opinion', /你(?:觉得|认为|看(?!到|见|过|书|电|起来|上去|着|上)|怎么看)|怎么看/u],
  ['why', /为什么|为啥|为何|怎么会|干嘛要|凭什么/u],
  ['when', /什么时候|几点|哪一?[年天]|几[月号]|多久以前|何时/u],
  ['number', /多少|几(?!乎|点|时)\p{Script=Han}|多[大高重远久长快深厚强宽老]|几(?:呢|啊)?$/u],
  ['whether-you', /你.*有没有.*(?:谁|什么)|你.*(?:谁|什么).*吗/u],
  ['where', /哪[里儿]|什么地方|(?:在|去|到)哪|^(?:那)?你?\p{Script=Han}{1,4}人呢？?$/u],
  ['who', /谁|哪位|(?<!没|没有)什么人/u],
  [
    'knowing',
    /(?:知道|听说过?|见过|看过|认识|读过|用过|玩过|懂)[^？]*(?:吗|么|不|没有?|？)$|有没有(?:见|听|看|吃|去)过/u,
  ],
  ['how', /怎么|怎样|如何|咋/u],
  ['what', /(?<!没|没有)什么|啥|哪/u],
  ['whether-you', /你.*(?:吗|么|不|没有?|？)$|你.*(\p{Script=Han})不\1|你.*(?:有没有|是不是|会不会|还是)/u],
  ['whether', /(?:吗|么|不|？)$|(\p{Script=Han})不\1|有没有|是不是|会不会|还是/u],
  ['you', /^(?:那|可)?(?:我觉得|我看|我听说|听说)?你/u],
  ['self', /^(?:那|可|可是|但|但是|其实|今天|昨天|最近|刚才)?(?:我|咱)/u],
];

/** Returns the shape of a message, or of one part of it, independent of its topic. */
export function shapeOf(message: string): Shape {
  if (/\p{Script=Han}/u.test(message)) {
    const text = message
      .replaceAll('您', '你')
      .replaceAll(/[^\p{L}\p{N}？?]+|[啊呀啦嘛呢吧](?=[？?\s]*$)/gu, '')
      .replace(/[?？]+/gu, '？')
      .trim();
    const bare = text.replace(/？$/u, '');
    return chinese.find(([, pattern]) => pattern.test(text) || (text !== bare && pattern.test(bare)))?.[0] ?? 'remark';
  }
  const text = message
    .toLowerCase()
    .replaceAll(/[’‘`]/g, "'")
    .replaceAll(/[^\p{L}\p{N}'?]+/gu, ' ')
    .trim()
    .replace(/ *\?+$/u, '?');
  const plain = text.replace(lead, '').replace(indirect, '');
  const shape = english.find(([, pattern]) => pattern.test(plain))?.[0] ?? 'remark';
  // "You like it here?" asks.
  return text.endsWith('?') && shape === 'you'
    ? 'whether-you'
    : text.endsWith('?') && isStated(shape)
      ? 'whether'
      : shape;
}

/** True for the shapes that ask nothing. */
export function isStated(shape: Shape): boolean {
  return shape === 'you' || shape === 'self' || shape === 'remark';
}

/**
 * Factor, 0 to 1, on the fit of a line whose trigger has another shape than the message: an answer to "Who is Watson?"
 * is none to "Where is Watson?". Set by hand on talks that were read (see the bench `default-mind`).
 */
export function kinship(message: string, trigger: string): number {
  const [asked, answers] = [shapeOf(message), shapeOf(trigger)];
  if (isStated(asked) !== isStated(answers)) return isStated(asked) ? 0.65 : 0.55;
  if (/\bwould\b/iu.test(message) !== /\bwould\b/iu.test(trigger) && asked === 'what') return 0.75;
  if (asked === 'self' && ownThing.test(message) !== ownThing.test(trigger)) return 0.6;
  if (asked === 'number' && answers === 'number' && measureIn(message) !== measureIn(trigger)) return 0.65;
  if (asked === 'opinion' && asked === answers && ofOneView.test(message) !== ofOneView.test(trigger)) return 0.7;
  if (asked === answers) return 1;
  if (isStated(asked)) return asked === 'remark' || answers === 'remark' ? 0.9 : 0.6;
  // Chinese leaves out the subject.
  if (/\p{Script=Han}/u.test(message) && isYesOrNo(asked) && isYesOrNo(answers)) return 1;
  return kinshipOfQuestions(asked, answers);
}

/** "Do you think that he will come?": asks for less than "What do you think of him?" */
export const ofOneView = /(?<!\b(?:what|how) )\bdo you (?:agree|think|believe)\b(?! (?:of|about)\b)/iu;

function isYesOrNo(shape: Shape): boolean {
  return shape === 'whether' || shape === 'whether-you';
}

function kinshipOfQuestions(asked: Shape, answers: Shape): number {
  const isAny = (...shapes: readonly Shape[]): boolean => shapes.includes(asked) || shapes.includes(answers);
  if (isAny('where', 'when')) return 0.45;
  if (asked === 'request' && !['leave', 'whether-you', 'tell', 'urge', 'remark'].includes(answers)) return 0.6;
  if (isAny('tell', 'knowing')) return { why: 0.5, whether: 0.8, number: 0.8 }[asked as string] ?? 0.95;
  if (isAny('number') && isAny('whether-you')) return 0.8;
  if (isAny('advice', 'number')) return 0.6;
  if (asked === 'why') return isAny('whether-you') ? 0.8 : 0.5;
  if (asked === 'opinion' && answers === 'who') return 0.95;
  if (isAny('who', 'why', 'whether')) return 0.7;
  if (asked === 'opinion') return isYesOrNo(answers) ? 0.6 : 0.95;
  return isAny('opinion') ? 0.8 : 0.9;
}

/** A statement about a person or thing of the user's. */
const ownThing = /^(?:and |but |so )?(?:my|our) |^(?:那|可)?我(?:的|爸|妈|爷|奶|哥|姐|弟|妹|老|儿|女儿|朋友|同)/iu;

/** The measure that a question for a number asks for: "old", "far", "多重". */
export function measureIn(question: string): string {
  const [measure = ''] = /\bage\b|(?<=\bhow )\p{L}+|多\p{Script=Han}|几\p{Script=Han}/iu.exec(question) ?? [];
  return /age|old|几岁|多大|多老/iu.test(measure) ? 'age' : measure.toLowerCase();
}

/** The things that an either-or question names: "tea or coffee". */
export function alternativesIn(question: string): string[] {
  const [, before = '', after = ''] =
    /([\p{L}'’]+),? or (?:an? |the |is |are )?([\p{L}'’]+)/iu.exec(question) ??
    /(\p{Script=Han}{1,2})还是(?:喜欢|是|在|去|爱|要)?(\p{Script=Han}{1,2})/u.exec(question) ??
    [];
  return [before, after].flatMap((word) => searchTerms(word)).filter((term) => !isFrame(term));
}

/** Kind of a yes-or-no question about the character, apart from its topic. */
export type YesOrNo = 'taste' | 'experience' | 'skill' | 'state' | 'past' | 'habit' | 'wish';

const yesOrNo: readonly (readonly [YesOrNo, RegExp])[] = [
  ['habit', /^(?:do|don't) you (?:still |ever |often |sometimes )|你.*(?:常常?|经常|平时)/u],
  [
    'taste',
    /^(?:do|did|don't|didn't) you (?:really )?(?:like|love|enjoy|prefer|hate|miss|want|care)\b|你.*(?:喜欢|爱|想念?)/u,
  ],
  ['experience', /^(?:have|haven't) you\b|^did you ever\b|你.*过(?:吗|没)/u],
  [
    'skill',
    /^(?:can|could) you\b|^are(?:n't)? you (?:(?:really|very|any) )*(?:good|bad|skilled|clever) (?:at|with)\b|你.*(?:会不会|会|能).*(?:吗|？|$)/u,
  ],
  [
    'past',
    /^were(?:n't)? you (?:(?:really|very|so|ever|a bit|a little) )*(?!born\b|there\b|alone\b|married\b)\p{L}+(?:\?|$| (?:when|then|of|that|about|back|at first)\b)|^did you (?:cry|worry|laugh|mind)\b|你(?:当时|那时).*(?:吗|不)/u,
  ],
  [
    'state',
    /^are(?:n't)? you (?:(?:really|very|so|ever|always|a bit|a little|still|often) )*(?!married\b|alone\b|there\b|alive\b|\p{L}+ing\b)\p{L}+(?:\?|$| (?:of|that|about|with|sometimes|when|now|today)\b)|你.*(?:怕|累|难过|生气|孤单|高兴|开心|疼)(?:吗|不)/u,
  ],
  ['wish', /^would(?:n't)? you\b(?! (?:please|mind|help))|你(?:愿意|想不想|要不要)/u],
];

/** Returns what a question for yes or no about the character asks for; undefined if it is nothing that a short answer suits. */
export function yesOrNoOf(message: string): YesOrNo | undefined {
  const text = message
    .toLowerCase()
    .replaceAll(/[’‘`]/g, "'")
    .replaceAll(/[^\p{L}\p{N}'?？]+/gu, ' ')
    .trim()
    .replace(lead, '');
  return yesOrNo.find(([, pattern]) => pattern.test(text))?.[0];
}
