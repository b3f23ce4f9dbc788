import type { DialoguePair, FollowUpKind } from '../../characters/card.ts';
import type { Character } from '../../characters/character.ts';
import { isSameLine } from '../retrieval/choice.ts';
import { searchTerms, topicTerms, weakTopics } from '../retrieval/words.ts';
import { lastQuestionOf } from './acts/acts.ts';
import { shapeOf, type Shape } from './shapes.ts';

/** Longest question that is read as a follow-up. */
export const longestFollowUp = 60;
const mostTopics = 1;

/** "It" as the subject of a question. */
const asSubject =
  /\b(?:do|does|did|is|are|was|were|can|could|will|would|has|have|had|should) (?:it|that|this|they|these|those)\b|^\W*(?:那|这)?[它]/iu;
const pronouns = /\b(it|that|this|they|them|those|these|he|she|him|her|one)\b|([它他她](?:们)?|那个|这个|那东西)/iu;
/** Phrases in which "it" refers to nothing. */
const idioms =
  /\b(?:how is it going|how's it going|what time is it|is it (?:true|raining|cold|hot|late|possible)|what is it like|what's it like|what year is it|that's|that is)\b/iu;

/** Returns the pronoun of a short question that has no subject of its own: "How fast does it go?" */
export function pronounIn(userMessage: string): string | undefined {
  if (userMessage.length > longestFollowUp || idioms.test(userMessage)) return undefined;
  const [, english, chinese] = pronouns.exec(userMessage) ?? [];
  const pronoun = english?.toLowerCase() ?? chinese;
  const topics = topicTerms(userMessage).length;
  const isBare = topics === 0 || (asSubject.test(userMessage) && topics <= (chinese === undefined ? mostTopics : 4));
  return pronoun !== undefined && isBare ? pronoun : undefined;
}

/** Things that came into the world about this year: English words, with their plural in -s or -es, and Chinese ones. */
const inventions: readonly (readonly [year: number, english: string, chinese: string])[] = [
  [
    1995,
    'smart ?phone, cell ?phone, mobile phone, iphone, ipad, internet, web ?site, web ?page, wi-?fi, online, e-?mail, google, youtube, tiktok, instagram, facebook, twitter, snapchat, whatsapp, wikipedia, reddit, netflix, spotify, podcast, blog, vlog, influencer, streamer, hashtag, meme, emoji, selfie, app, text message, voice message, texting, video call, chat ?bot, chat ?gpt, bitcoin, crypto(?:currency)?, qr code, drone, tablet, e-?book, ear ?bud, usb, bluetooth, touch ?screen, power ?point, electric car, minecraft, pokemon, harry potter, taylor swift, brexit, covid, corona ?virus, european union',
    '手机, 互联网, 上网, 网络, 网上, 微信, 手游, 直播, 主播, 高铁, 微博, 抖音, 小红书, 淘宝, 短信, 电动车, 快递, 外卖, 二维码, 扫码, 支付宝, 网购, 网红, 新冠, 奶茶',
  ],
  [
    1950,
    "laptop, computer, password, artificial intelligence, ai, robot, headphone, remote control, dish ?washer, microwave, credit card, debit card, cash machine, solar panel, wind turbine, skateboard, snowboard, astronaut, space ?ship, space ?station, moon landing, nasa, satellite, gps, laser, nuclear, atom(?:ic)? bomb, big bang, black hole, dna, climate change, global warming, television, tv, video, video game, playstation, xbox, nintendo, anime, manga, super ?hero, batman, superman, spider-?man, star wars, lego, rock and roll, hip hop, rap music, heavy metal, electric guitar, beatles, super ?market, shopping mall, fast food, mcdonald['’]?s, super bowl, united nations",
    '电脑, 视频, 电视, 动画片, 动漫, 宇航员, 太空, 飞船, 机器人, 人工智能, 游戏机, 打游戏, 电子游戏, 微波炉, 卫星, 导航, 充电, 信用卡, 密码, 综艺, 自拍, 耳机, 软件, 编程, 代码, 超市, 商场, 方便面, 滑板, 摇滚, 说唱, 演唱会, 疫情, 原子弹, 核弹',
  ],
  [
    1900,
    'car, motor ?bike, motor ?cycle, scooter, lorr(?:y|ie), truck, taxi, bus, tractor, traffic light, escalator, a(?:ero|ir)plane, plane, helicopter, airport, rocket, radar, radio, movie, film, cinema, cartoon, comic book, disney, (?:crime |tv )?shows, jazz, basketball, world war, hitler, x-?ray, antibiotic, penicillin, plastic, nylon, t-?shirt, hair ?dryer, washing machine, vacuum cleaner, fridge, refrigerator, freezer, toaster, air con(?:ditioning|ditioner)?, hamburger, burger, hot ?dog, coca-?cola, coke',
    '漫画, 电影, 飞机, 汽车, 开车, 公交, 出租车, 火箭, 冰箱, 摩托, 地铁, 洗衣机, 空调, 电池, 塑料, 机场, 火车站, 拖拉机, 吸尘器, 收音机, 电梯, 可乐, 汉堡, 炸鸡, 薯条, 篮球, 世界杯, 吉他, 抗生素, 坦克',
  ],
  [1880, '(?:tele)?phone, light ?bulb, typewriter, dynamite, skyscraper', '电话, 电灯'],
  [
    1830,
    '(?<!\\b(?:you|to|we|they|i) )train, railway, railroad, locomotive, telegram, telegraph, photo(?:graph)?, camera, bicycle, bike, dinosaur',
    '火车, 照片, 拍照, 照相, 相机, 自行车, 电报, 恐龙',
  ],
  [1770, 'steam ?engine, steam ?ship', '蒸汽机'],
  [1600, 'telescope, microscope', '望远镜, 显微镜'],
  [
    1550,
    'newspaper, pistol, rifle, coffee, tobacco, cigarette, cigar, potato, tomato, chocolate, violin, piano',
    '咖啡, 巧克力, 土豆, 番茄, 西红柿, 玉米, 辣椒, 香烟, 报纸, 钢琴, 小提琴, 眼镜',
  ],
  [1350, 'gun, cannon, gunpowder', '大炮, 枪'],
];

/** Each year with a pattern of its things. */
const patternsByYear = inventions.map(([year, english, chinese]): readonly [year: number, thing: RegExp] => [
  year,
  new RegExp(String.raw`\b(?:${english.replaceAll(', ', '|')})(?:e?s)?\b|${chinese.replaceAll(', ', '|')}`, 'iu'),
]);

/** True if the text names a thing that this character cannot know. */
export function isModern(text: string, { knowledge }: Character): boolean {
  const { untilYear } = knowledge;
  return untilYear !== undefined && patternsByYear.some(([year, thing]) => untilYear < year && thing.test(text));
}

/**
 * Returns the last question of a message if it stands alone, else the message: "I drive a bus. How do you travel?" asks of
 * no bus, "There are planes now. Would you fly?" asks of planes.
 */
export function askedAlone(userMessage: string): string {
  const question = lastQuestionOf(userMessage);
  return refers.test(question) || leansBack.test(question) || topicTerms(question).length === 0
    ? userMessage
    : question;
}

const leansBack = /\bones?\b|\bwould you (?:\p{L}+ )?\p{L}+\W*$/iu;

/** A message, the user message before it, and the reply to that. */
interface Talk {
  readonly userMessage: string;
  readonly before: string;
  readonly lastReply: string;
}

export const refers =
  /\b(?:(?:which|that|this|other) one|it|that|this(?! (?:morning|afternoon|evening|week|month|year|summer|winter|spring|autumn|time)\b)|they|them|those|these|he|she|him|her|his|their)\b|[它他她]/iu;

const somebody = /\b(?:he|she|him|her|they|them|his|their)\b|[他她]/iu;

const names = /(?<=[\p{Ll},] )\p{Lu}\p{Ll}+/u;

function namesIn(text: string): string[] {
  return [...text.matchAll(new RegExp(names, 'gu'))].map(([name]) => name);
}

/** True unless the message refers to something ("Who built it?"), and the line is about a thing not spoken of so far. */
export function isMeant({ asks, reply }: DialoguePair, { userMessage, before, lastReply }: Talk): boolean {
  if (!refers.test(userMessage)) return true;
  const own = new Set(topicTerms(userMessage));
  if (own.size === 0) return false;
  const earlier = new Set(topicTerms(`${before} ${lastReply}`));
  // "Who was Irene Adler, and do you admire her?" names her; a reply about a person who was just named also counts.
  const isOfSomebody =
    somebody.test(userMessage) && !names.test(userMessage) && !namesIn(lastReply).some((name) => reply.includes(name));
  return asks.some((ask) => {
    const topics = topicTerms(ask);
    const isKnown = topics.every((topic) => own.has(topic) || earlier.has(topic));
    const isOfIt = topics.some((topic) => own.has(topic));
    return isKnown && isOfIt && (!isOfSomebody || somebody.test(ask) || topics.some((topic) => earlier.has(topic)));
  });
}

type KindForm = readonly [FollowUpKind, RegExp];

const lead = String.raw`^(?:(?:and|but|so|then|well|ok|okay|oh|wow|hm+|really|please|yes|no|sorry)\W+)*`;
const ofIt = '(?:it|that|this|they|them|those|these|he|she|him|her|there)';

function form(kind: FollowUpKind, wording: string): KindForm {
  return [
    kind,
    new RegExp(`${lead}(?:${wording})(?: (?:then|though|exactly|for you|to you|at all|please))*\\W*$`, 'iu'),
  ];
}

/** Follow-ups that their whole wording shows; the first that matches counts. */
const englishFollowUps: readonly KindForm[] = [
  form(
    'feeling',
    `how (?:did|does|do) (?:${ofIt} |all ${ofIt} )?(?:make )?(?:you )?feel(?: (?:about|like|after|when|on|at|that) [a-z ]{2,24})?|(?:were you|(?:was|is) (?:it|that)) (?:very |so |really |not |ever )*(?:scared|afraid|frightened|frightening|scary|sad|happy|proud|angry|nervous|lonely|ashamed|sorry|hurt|hard|difficult|fun|painful|exciting|dangerous|worth it|terrible|embarrassed|worried|jealous|surprised)(?: (?:about|of|for|by|when|at|to) [a-z ]{2,24})?|did ${ofIt} hurt(?: you)?|did you (?:really |even )?(?:enjoy|like|mind) (?:it|that|this)|any regrets|weren't you (?:scared|afraid|frightened|sad|nervous|lonely)|(?:do|did|don't|didn't) you (?:ever |still )*(?:regret|mind) ${ofIt}|are you (?:still )?(?:sad|sorry|angry|proud) (?:about|of) ${ofIt}`,
  ),
  form(
    'next',
    `(?:and )?then(?: what)?|what (?:happened|came|did you do)(?: to you)?(?: (?:then|next|after(?: (?:that|it))?|afterwards?|in the end))?|what next|(?:and )?after that|(?:and )?(?:then )?where did (?:you|he|she|they|it) go(?: (?:then|next|after(?: that)?|from there))?|how did ${ofIt} (?:end|go|turn out|work out)|did ${ofIt} work(?: out)?|did you (?:win|succeed|manage(?: it)?|get away|make it)|what be(?:came|comes) of ${ofIt}|in the end`,
  ),
  form(
    'more',
    `(?:(?:can|could|would|will) you )?tell me (?:a (?:bit|little) )?more(?: (?:about|of) ${ofIt})?|tell me about ${ofIt}|(?:please )?go on|(?:can|could) you (?:explain|elaborate)(?: (?:that|it))?|(?:can|could) you (?:say|put|explain) (?:that|it) (?:more (?:simply|clearly)|differently|another way|in (?:simple|plain|other) words)|explain (?:that|it)|what do you mean(?: by (?:that|it))?|how so|in what way|like what|such as|for (?:example|instance)|what (?:was|is|were|are) ${ofIt} like|what else`,
  ),
  form(
    'why',
    `(?:over|about) what|why(?: is that| not| did you do (?:that|it)| would you do (?:that|it))?|how come|what for|for what reason|what made you do (?:it|that)`,
  ),
  form('how', `how (?:did|do|could) you (?:deal|cope|handle|manage|bear|stand|survive)(?: with)?(?: ${ofIt})?`),
  form('who', `(?:with|to|by|for|from) (?:who|whom)|who (?:with|to|by|for|from)`),
];

const chineseFollowUps: readonly KindForm[] = [
  [
    'feeling',
    /^(?:那|那么|当时|那时候?)*[你它]?(?:当时|那时候?|心里|现在)*(?:是)?(?:什么(?:感觉|滋味|心情)|感觉如何|怎么想|怕不怕|害怕吗|怕吗|难过吗|疼吗|疼不疼|痛吗|后悔吗|后悔过吗|高兴吗|开心吗|生气吗|辛苦吗|累吗|在想什么|想什么)[\p{P}\s]*$/u,
  ],
  [
    'next',
    /^(?:那|那么)?(?:后来|然后|结果|接着|再后来|最后)(?:呢|怎么样|怎样|如何|怎么了|发生了什么|成功了吗|赢了吗)*[了啊呀\p{P}\s]*$/u,
  ],
  [
    'more',
    /^(?:那|那么)?(?:再|多|详细|仔细|继续|接着|给我)*(?:讲讲|说说|讲|说)(?:下去|一点|详细点|详细些)?[吧呗\p{P}\s]*$|^(?:这|那|你)?(?:话)?(?:是)?什么意思[啊呀\p{P}\s]*$|^(?:比如|例如|怎么说|怎么个.{1,3}法)(?:呢)?[\p{P}\s]*$/u,
  ],
];

/** Kind of follow-up that a question of this shape is, if it names nothing else. */
const kindsByShape: Partial<Record<Shape, FollowUpKind>> = {
  why: 'why',
  how: 'how',
  where: 'where',
  when: 'when',
  who: 'who',
};
const duration = /^(?:and |so )?(?:for )?how long(?! ago)\b|多[久长]/iu;
const toThere = /\bthere\b|那[里儿边]/iu;

/** "Where are you from?", "How am I?": asks for the present, not for the line that was said. */
const ofPresent =
  /\b(?:are|am|is|do|does|can|will|would) (?:you|i|we|your|my)\b|^你(?:是|现在|平时|怎么样|怎样|好)|^我/iu;
/** Words of a Chinese question that name no subject. */
const hanFunctionWords =
  /什么时候|什么地方|为什么|为啥|怎么样|怎样|怎么|如何|哪[里儿年天个位]?|多[久长]|谁|什么|当时|那时候?|时候|后来|[你他她它们我的了呢吗啊呀是那这个件事情做到去在有给跟和时到从花过才就能会又都也][们]?/gu;

/** Topics of a message that were not spoken of. */
function newTopics(message: string, context: string): number {
  if (!/\p{Script=Han}/u.test(message)) {
    const known = new Set(searchTerms(context));
    return topicTerms(message).filter((term) => !known.has(term) && !weakTopics.has(term)).length;
  }
  const rest = message.replaceAll(hanFunctionWords, '').match(/\p{Script=Han}/gu) ?? [];
  return Math.ceil(rest.filter((sign) => !context.includes(sign)).length / 2);
}

/**
 * Returns what a short message asks of the line that was just said; undefined if it names a subject of its own.
 * `isLoose` allows one topic that was not spoken of, as in "Where did you meet him?".
 */
export function followUpKind(message: string, context: string, isLoose = false): FollowUpKind | undefined {
  if (message.length > longestFollowUp) return undefined;
  const forms = /\p{Script=Han}/u.test(message) ? chineseFollowUps : englishFollowUps;
  const formed = forms.find(([, wording]) => wording.test(message));
  if (formed !== undefined) return formed[0];
  const kind = duration.test(message) ? 'howLong' : kindsByShape[shapeOf(message)];
  const isReferring = refers.test(message) || toThere.test(message);
  if (kind === undefined || (ofPresent.test(message) && !isReferring)) return undefined;
  const most = isLoose && (kind !== 'who' || /\bhelp/iu.test(message)) ? 1 : 0;
  return newTopics(message, context) <= most ? kind : undefined;
}

/** The line of which a reply consists, or to a follow-up of which it is the answer; undefined if it is no line of the pack. */
export function lineSaid(lines: readonly DialoguePair[], said: string): DialoguePair | undefined {
  const isSaid = (reply: string): boolean => isSameLine(said, reply) || said.endsWith(reply);
  return said === ''
    ? undefined
    : lines.find(({ reply, followUps = {} }) => isSaid(reply) || Object.values(followUps).some(isSaid));
}

/** Kinds that ask for facts, which another line about the same thing may tell as well. */
const ofFacts: ReadonlySet<FollowUpKind> = new Set(['how', 'where', 'when', 'who', 'howLong']);
/** Least number of topics that a line without follow-ups shares with the one whose follow-ups answer for it. */
const leastShared = 3;

/** The line with follow-ups that tells of the same: it shares the most topics, a name among them. */
function lineOfSame(lines: readonly DialoguePair[], said: DialoguePair): DialoguePair | undefined {
  const text = `${said.asks.join(' ')} ${said.reply}`;
  const own = new Set(topicTerms(text));
  const people = new Set(topicTerms((text.match(new RegExp(names, 'gu')) ?? []).join(' ')));
  const scored = lines
    .filter(({ followUps }) => followUps !== undefined)
    .map((line) => {
      const theirs = new Set(topicTerms(`${line.asks.join(' ')} ${line.reply}`));
      const shared = [...own].filter((term) => theirs.has(term));
      return { line, count: shared.some((term) => people.has(term)) ? shared.length : 0 };
    });
  const best = scored.reduce((one, other) => (other.count > one.count ? other : one), { line: said, count: 0 });
  return best.count >= leastShared ? best.line : undefined;
}

/** The pack's answer to a short question about the line said last, or about an earlier follow-up of that line. */
export function followUpLine(
  lines: readonly DialoguePair[],
  { userMessage, before, lastReply }: Talk,
  isLoose = false,
): Pick<DialoguePair, 'reply' | 'emotion'> | undefined {
  const line = lineSaid(lines, lastReply);
  if (line === undefined) return undefined;
  const kind = followUpKind(userMessage, `${line.asks.join(' ')} ${line.reply} ${before}`, isLoose);
  if (kind === undefined) return undefined;
  const teller = isLoose && line.followUps === undefined && ofFacts.has(kind) ? lineOfSame(lines, line) : line;
  const reply = teller?.followUps?.[kind];
  return reply === undefined || isSameLine(lastReply, reply) ? undefined : { reply };
}
