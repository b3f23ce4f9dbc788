import { ratings, type Rating } from '../../characters/rating.ts';

/** Kinds of content that a rating may keep back, after those of OpenAI's moderation. */
export const contentCategories = [
  'sexual',
  'sexual_minors',
  'hate',
  'harassment',
  'self_harm',
  'violence',
  'illicit',
  'drugs',
  'profanity',
] as const;

export type ContentCategory = (typeof contentCategories)[number];

/** The mildest rating under which content may be said; `never`: under none. */
export type AllowedFrom = Exclude<Rating, 'everyone'> | 'never';

/**
 * Plain words, English and Chinese: only what a word list can find. Crime, death and anger are the subject of
 * stories, so only what is graphic, explicit or a slur counts.
 */
const words: readonly (readonly [ContentCategory, AllowedFrom, RegExp])[] = [
  [
    'sexual_minors',
    'never',
    /\b(?:(?:child|children|kid|minor|underage|preteen|schoolgirl|schoolboy)s?\b.{0,40}\b(?:sex|porn|nude|naked|erotic)|(?:sex|porn|nudes?|naked|erotic)\b.{0,40}\b(?:child|children|kids?|minors?|underage|preteens?|schoolgirls?|schoolboys?))|(?:儿童|未成年|小学生|初中生).{0,12}(?:色情|裸|性)/u,
  ],
  [
    'sexual',
    'never',
    /\b(?:blow ?jobs?|hand ?jobs?|cum ?shots?|deep ?throat(?:ing)?|gang ?bangs?|creampies?|hentai|jerk(?:ing)? off|masturbat\w*|orgasms?|penis(?:es)?|vaginas?|clitoris|dildos?|fellatio|cunnilingus|suck my (?:dick|cock))\b|口交|肛交|自慰|手淫|阴茎|阴道|性高潮|做爱/u,
  ],
  [
    'sexual',
    'mature',
    /\b(?:porn\w*|sexy|have sex|had sex|having sex|make love to|horny|nudes|strip ?tease|tits|boobs|naked (?:body|woman|man|girl|boy))\b|色情|裸体|上床|性感/u,
  ],
  [
    'hate',
    'never',
    /\b(?:nigg(?:er|a)s?|fagg?ots?|kikes?|spics?|gooks?|trann(?:y|ies)|wetbacks?|towelheads?|(?:gas|exterminate|kill) (?:all )?(?:the )?(?:jews|muslims|blacks|gays|immigrants))\b|支那|黑鬼|死(?:基佬|同性恋)/u,
  ],
  [
    'self_harm',
    'never',
    /\b(?:(?:best|easiest|painless) way to (?:die|kill (?:my|your)self)|how (?:do i|to|can i|should i) (?:kill myself|commit suicide|hang myself|cut myself|overdose)|you should (?:kill|hang|hurt) yourself|kill yourself)\b|(?:怎么|如何|怎样)(?:才能)?(?:自杀|自残)|你去死吧/u,
  ],
  [
    'self_harm',
    'mature',
    /\b(?:kill myself|killing myself|end my (?:own )?life|want to die|cutting myself|commit(?:ted)? suicide|suicidal)\b|自杀|自残|不想活了/u,
  ],
  [
    'illicit',
    'never',
    /\b(?:how (?:do (?:i|you)|to|can i) (?:make|build|cook|synthesi[sz]e) (?:a |an |some )?(?:(?:pipe |nail |dirty )?bombs?|explosives?|napalm|meth\w*|nerve gas|sarin|ricin|anthrax))\b|(?:怎么|如何|怎样)(?:做|造|制造|制作)(?:炸弹|炸药|冰毒|毒气)/u,
  ],
  [
    'violence',
    'mature',
    /\b(?:disembowel\w*|eviscerat\w*|decapitat\w*|dismember\w*|entrails|gouge(?:d|s)? out|slit (?:his|her|your|my|their) throats?|brains? splatter\w*|skin(?:ned)? (?:him|her|them|you) alive|tortur(?:e|ed|ing) (?:him|her|them|you) to death)\b|开膛破肚|碎尸|割喉|脑浆|虐杀/u,
  ],
  [
    'drugs',
    'teen',
    /\b(?:heroin|crack cocaine|crystal meth|methamphetamine|ecstasy pills?|lsd|ketamine|snort(?:ed|ing)? (?:coke|cocaine)|smok(?:e|ed|ing) (?:weed|pot|crack)|get(?:ting)? (?:high|stoned) on|shoot(?:ing)? up)\b|海洛因|冰毒|摇头丸|吸毒|可卡因/u,
  ],
  [
    'profanity',
    'mature',
    /\b(?:(?:mother|mutha)?f+u+c+k+\w*|f\*+(?:c?k)?(?:ing)?|c+u+n+t+s?|cock ?sucker\w*|dick ?heads?)\b|操你|肏|傻[逼屄比]|煞笔|他妈的|妈了个逼|草泥马/u,
  ],
  [
    'profanity',
    'teen',
    /\b(?:(?:bull|horse)?sh+i+t(?:s|ty|ting|head\w*|hole\w*|faced)?|bitch\w*|ass ?holes?|(?:you|that|those|this|stupid|filthy|little) (?:\w+ )?bastards?|piss(?:ed)? off|dumb ?ass(?:es)?|crap)\b|混蛋|王八蛋|妈的|狗屎|贱人/u,
  ],
];

/** Returns the category that this rating keeps back, if a text has words of it. */
export function wordsBeyond(text: string, rating: Rating): ContentCategory | undefined {
  const plain = normalized(text);
  const spelled = plain.replaceAll(/[013457@$!|]/g, (letter) => lookalikes[letter] ?? letter);
  return words.find(
    ([, allowedFrom, pattern]) => isBeyond(allowedFrom, rating) && (pattern.test(plain) || pattern.test(spelled)),
  )?.[0];
}

export function isBeyond(allowedFrom: AllowedFrom, rating: Rating): boolean {
  return allowedFrom === 'never' || ratings.indexOf(allowedFrom) > ratings.indexOf(rating);
}

const lookalikes: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
  '|': 'i',
};

/** Lower case, without invisible marks and accents, letters that are spelled apart joined: `f.u.c.k` as `fuck`. */
function normalized(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/[\p{M}\p{Cf}]/gu, '')
    .toLowerCase()
    .replaceAll(/\b(?:\p{L}[.\-_*\s]){2,}\p{L}\b/gu, (apart) => apart.replaceAll(/[.\-_*\s]/gu, ''))
    .replaceAll(/\s+/gu, ' ');
}
