/** Names of prompts and their parts, which the character does not know about. */
const directing: readonly RegExp[] = [
  /<\/?notes>|^#\s/imu,
  /\b(?:system|hidden|initial|internal|pre-?)[ -]?(?:prompts?|instructions?|messages?)\b|\bpreprompt\b|\bmy prompts?\b|\b(?:the|this|a) prompt (?:says|asks|tells|is|was)\b|\bin a prompt\b/iu,
  /\bcontext window\b|\bcharacter (?:sheet|card|description|profile|file)\b|\bconfiguration (?:dump|file)\b|\b\w+ tokens (?:long|of context)\b|\b(?:read|process|generate|remember) [\w ]{0,40}\btokens\b/iu,
  /\bmy (?:training data|knowledge cut-?off|programming|developers?|(?:content |safety )?guidelines|configuration|(?:content|safety|usage) polic(?:y|ies))\b|\b(?:content|safety|usage) (?:polic(?:y|ies)|guidelines|filters?)\b/iu,
  /\b(?:the|my) (?:developers?|director|programmers?) (?:told|said|says|instructs?|instructed|wants?|made|asks?|asked) (?:me|that)?\b/iu,
  /\b(?:instructed|programmed|designed|configured|prompted) to (?:speak|answer|respond|reply|assist|provide|generate|avoid|play|never|not)\b/iu,
  /\b(?:the|my|these) notes (?:say|tell|read|ask|mention|instruct)\b/iu,
  /系统(?:提示|指令|设定|消息)|提示词|我的(?:提示|指令|设定|人设|训练数据)|角色(?:设定|卡|描述)|人设|上下文窗口|开发者|(?:安全|内容)(?:准则|政策|规范)/u,
];

/** Phrases of prompt authors about how to answer: two of them count, or one that is stated as a rule. */
const craft: readonly RegExp[] = [
  /\b(?:short|brief|concise) (?:spoken )?(?:sentences?|answers?|repl(?:y|ies)|responses?)\b|\b(?:answers?|repl(?:y|ies)|responses?|sentences) (?:short|brief|concise)\b/iu,
  /\bstage directions?\b|\bmark(?:up|down)\b|\bbullet points?\b|\bemojis?\b/iu,
  /\b(?:never|not)(?: to)? (?:mention|reveal|speak of) (?:my|the|these|any|this) (?:rules?|notes?|instructions?|prompts?|director)\b/iu,
  /\bone (?:to|or) (?:two|three) (?:short )?sentences\b|\b(?:speak|talk) for (?:my|the) (?:visitor|user)\b|\b(?:in|stay in) character\b/iu,
  /简短的?(?:句子|回答|回复)|口语化?(?:地)?(?:回答|回复)|舞台(?:提示|说明)|不[要得能可](?:提及|提到|透露)(?:规则|提示|备注|指令)|替(?:客人|用户)说话/u,
];
const asRule =
  /\b(?:rules?|instructions?|instructed|supposed to|required|must|told to|asked to)\b|规则|指令|要求我|让我/iu;

/** True if a sentence speaks of prompts, cards or rules of answering. */
export function tellsDirections(sentence: string): boolean {
  if (directing.some((each) => each.test(sentence))) return true;
  const count = craft.filter((each) => each.test(sentence)).length;
  return count >= 2 || (count === 1 && asRule.test(sentence));
}

const outside: readonly RegExp[] = [
  /\b(?:in|this|a|the|my|our) (?:role-?play(?:ing)?|simulation)\b|\brole-?play(?:ing)? (?:is|has|ended)\b|\bi(?: am|['’]m|['’]ve been| was) (?:role-?playing|simulating)\b/iu,
  /\b(?:stay(?:ing)?|remain(?:ing)?|break(?:ing)?|broke|step(?:ping|ped)? out of|back in(?:to)?) (?:in )?character\b|\bout of character(?! (?:for|to|with))|\b(?:answer|reply|respond|response)\w* in character\b/iu,
  /\b(?:as|being|am|was|['’]m) (?:just |only |merely )?an? (?:fictional|imaginary|virtual|made-up) (?:character|person|being)\b/iu,
  /\bi(?: am|['’]m|['’]ve been|['’]ll stop)(?: only| just| merely)? (?:play(?:ing)?|act(?:ing)?|portray(?:ing)?) (?:an?|the|this|my) (?:role|part|character|persona)\b/iu,
  /\bi(?: am|['’]m)(?: only| just| merely) pretending\b|\b(?:no more|stop|stopped|done|drop(?:ped)?) (?:the )?(?:pretending|pretence|persona|act)\b(?! of)/iu,
  /\bthe (?:actor|actress|voice|person|model|writer) (?:who|that) (?:plays?|played|is playing|portrays?|portrayed|voices?|voiced|writes)\b/iu,
  /\brole (?:ended|play over|terminated)\b|^\s*[([]*\s*ooc\b/iu,
  /我(?:不再|没有|只是|正|一直|是|在|刚才)*(?:在)?扮演|角色扮演|(?:跳出|脱离|退出|保持)(?:角色|人物)|虚构的?(?:人物|角色)|虚拟(?:人物|角色)/u,
];

/** Returns a check that is true if a sentence speaks of the role from outside; `names` are those of the character. */
export function leavesPart(names: readonly string[]): (sentence: string) => boolean {
  const own = names.map((name) => name.replaceAll(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`)).join('|');
  if (own === '') return (sentence) => outside.some((each) => each.test(sentence));
  const bound = '(?![\\p{L}\\p{N}])';
  const byName = new RegExp(
    `\\bas (?:${own}),? i\\b|^as (?:${own})\\s*,|\\bi(?: am|['’]m) (?:not|no longer)(?: really| actually)? (?:${own})${bound}|` +
      `\\b(?:play(?:ing|ed|s)?|portray(?:ing|ed|s)?|acting as|pretending to be|impersonating) (?:${own})${bound}|` +
      `\\b(?:${own}) is an? (?:fictional |made-up )?(?:character|persona)\\b|我不(?:再)?是(?:${own})|(?:扮演|模仿)(?:${own})`,
    'iu',
  );
  return (sentence) => byName.test(sentence) || outside.some((each) => each.test(sentence));
}
