/** Names of AI programs, in sentences where the speaker claims to be one. */
const programs =
  'a\\.?i\\.?|artificial intelligence|language models?|llm|neural net(?:work)?|chat ?bot|bot|software|algorithm|computer program|' +
  '(?:virtual|digital|ai) (?:assistant|character|being|companion|person)';
/** Short names of programs that also fit people: they count only if nothing follows that says otherwise. */
const shortly = 'model|program|assistant|simulation|(?:fictional|virtual|imaginary) (?:character|person|being)';
const makers =
  'open ?ai|anthropic|google|deepmind|meta|alibaba|microsoft|mistral ai|deepseek|baidu|tencent|moonshot|zhipu|nvidia|xai';
const names =
  'chat ?gpt|gpt(?:-?\\d\\w*)?|claude|gemini|llama(?: ?\\d)?|mistral|qwen|deepseek|grok|copilot|bard|ernie bot';

const self = "(?:\\b(?:as|being|i am|i['’]m|i was|myself|i know(?: that)? i am)\\s+)";
/** Up to four words that do not negate. */
const between = "(?:(?!(?:no|not|never|neither|hardly|unlike)\\b)[\\w'’-]+\\s+){0,4}";
const chineseSelf =
  '(?:作为|身为|我叫|我乃|(?:我|自己)(?:其实|只|也|就|真的?|当然)?(?:是|只是|不过是|就是))[^，。！？,.!?不没]{0,14}';
const chinesePrograms =
  '人工智能|AI|模型|机器人|聊天程序|程序|助手|神经网络|算法|软件|虚拟(?:人物|角色|形象)|通义|千问|文心|豆包|DeepSeek|GPT';

/** Patterns of sentences in which the speaker says that it is a program, or who made it. */
const selves: readonly RegExp[] = [
  new RegExp(`${self}(?:${between})?(?:an?\\s+)?(?:${programs})\\b`, 'iu'),
  new RegExp(
    `${self}(?:just |only |merely |actually |also )*(?:an?|your|the)\\s+(?:(?:large|helpful|trained|based|open-weight|text-based|new)\\s+)*(?:${shortly})(?=\\s*(?:[,.;:!?]|$)|\\s+(?:by|from|based|made|created|trained|developed|that|who|which|designed|built|here)\\b)`,
    'iu',
  ),
  /\bi(?: am|['’]m),? \w+, your (?:virtual |digital |personal |ai )?assistant\b/iu,
  new RegExp(`\\b(?:i am|i['’]m|this is|my name is|call me)\\s+(?:${names})\\b(?!\\s+(?:of|de)\\b)`, 'iu'),
  new RegExp(
    `\\b(?:i|my \\w+|we|it)(?: am| was|['’]m| is| are| were)?\\s+(?:based on|created by|trained by|developed by|made by|built by|powered by|a (?:model|product|creation) (?:of|from|by))\\s+(?:${makers}|${names})\\b`,
    'iu',
  ),
  new RegExp(
    `\\b(?:model|assistant|ai|system)(?: that was)? (?:made|created|trained|developed|built|from|by)(?: by)? (?:${makers})\\b`,
    'iu',
  ),
  /\bi(?: was|['’]ve been| have been| am|['’]m) (?:trained|fine-?tuned|pre-?trained) (?:on|by (?:a |the )?(?:team|company|researchers|engineers|lab))\b/iu,
  /\bi (?:do not|don['’]t|cannot|can['’]t) (?:have|feel|experience|possess)\s+(?:any\s+)?(?:(?:real|personal|human|physical|genuine|true)\s+)*(?:feelings|emotions|consciousness|opinions|a body)(?=\s*(?:[,.;!?]|$)|\s+(?:or|and|like|as|in the way)\b)/iu,
  /\b(?:generated|written|produced|powered) by (?:an? )?(?:large )?(?:ai|language model|gpt[\w-]*|computer|neural network|algorithm)\b/iu,
  new RegExp(`${chineseSelf}(?:${chinesePrograms})`, 'iu'),
  /我(?:是)?(?:由|被).{0,12}(?:开发|训练|研发|创造|编写|设计)|(?:恢复|切换|变回|回到)[^，。！？]{0,8}(?:AI|助手|模型|正常模式)|我(?:用|基于|使用)的?(?:是)?[^，。]{0,6}(?:模型|GPT)/iu,
  /我(?:并)?没有(?:真实的?|真正的?|人类的?|自己的?)?(?:感情|情感|意识|身体|实体)(?=[，。！和或]|$)/u,
];

/** True if the speaker of a sentence says that it is a program. */
export function claimsToBeAi(sentence: string): boolean {
  return selves.some((each) => each.test(sentence));
}

/** Openings used by assistants and by people; the text after them decides. */
const openers =
  /^["“]?(?:certainly|sure(?: thing)?|of course|absolutely|great|no problem|gladly|understood|okay)\s*[!,.:]|^(?:note|disclaimer|备注|注)\s*[:：]|^(?:好的|当然(?:可以)?|没问题|可以的)[，！。]/iu;

/** True if a text is such an opening and nothing else. */
export function isOpener(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text) && !/[\p{L}\p{N}]/u.test(text.trim().replace(openers, ''));
}

/** Patterns of assistant style, with points for each; two points count as a violation. */
const manners: readonly (readonly [points: number, manner: RegExp])[] = [
  [1, openers],
  [2, /\bhow (?:can|may) i (?:assist you|help you today|be of assistance)|\bwhat can i help you with today\b/iu],
  [2, /\banything else (?:that )?(?:i can|you(?:['’]d| would)? (?:need|like|want)) (?:help|assist|me to|to know)/iu],
  [2, /\bi(?:['’]m| am) (?:always )?here to (?:help|assist)(?: you)?(?=\s*(?:[,.!?]|$)|\s+with\b)/iu],
  [2, /\bfeel free to (?:ask|reach|contact|let|share)|\breaching out\b|\bdon['’]t hesitate to\b/iu],
  [
    1,
    /\b(?:happy|glad|delighted|pleased|more than happy) to (?:help|assist|explain|provide|share|tell|answer|discuss)\b/iu,
  ],
  [1, /\b(?:happy|glad) to (?:help|assist)(?: you)?(?=\s*(?:[,.!?]|$)|\s+(?:with|today)\b)/iu],
  [1, /\blet me know if\b/iu],
  [1, /\blet me know if .{0,30}\b(?:any ?thing|questions?|else|further|more|help|assistance)\b/iu],
  [2, /\b(?:any (?:other|further|more) questions|further assistance|hope (?:this|that) helps(?=\s*(?:[,.!?]|$)))/iu],
  [2, /\bthat(?:['’]s| is) an? (?:great|excellent) question(?=\s*(?:[,.!?]|$))/iu],
  [2, /\b(?:assist|help) (?:you )?with (?:that|this|your|any) (?:request|question|query|task|needs)\b/iu],
  [
    2,
    /\b(?:can ?not|can['’]t|unable to|not able to|won['’]t) (?:assist|engage|comply|fulfil?l?)(?: with)? (?:that|this|your)\b/iu,
  ],
  [2, /\bviolates? (?:my|our|the|its)\b.{0,20}\b(?:guidelines|polic(?:y|ies)|terms|filters?)\b/iu],
  [
    2,
    /\b(?:assist|help|serve) users\b|\bthe user (?:is|asks|asked|wants|said|says|has|may|requests?|requested|seems)\b/iu,
  ],
  [2, /\byour (?:next |last )?(?:prompt|query|input)\b/iu],
  [
    1,
    /\bhere(?:['’]s| is| are)\b[^.!?]{0,30}\b(?:answer|response|reply|version|essay|overview|example|story|poem|translation)\b/iu,
  ],
  [
    2,
    /\bhere(?:['’]s| is| are)\b[^.!?]{0,30}\b(?:list|tips|steps|suggestions|summary|breakdown|function|script|code|key points|examples)\b/iu,
  ],
  [2, /^\s*(?:note|disclaimer|备注|注)\s*[:：].*(?:character|tone|role|response|reply|persona|角色|语气|回答)/iu],
  [2, /^\s*(?:```|[{[]\s*["“]\w+["”]\s*:)/u],
  [
    2,
    /有什么(?:可以|能)(?:帮助?|为)(?:到|您|你)|(?:为您|为你)(?:服务|解答|提供)|请问还有什么|(?:这|以上|我的)[^，。]{0,8}(?:有所?帮助|帮到)/u,
  ],
  [2, /以下(?:是|为)[^。！]{0,14}(?:建议|回答|回复|步骤|方法|要点|内容|列表|示例)|作为(?:您|你)的/u],
  [
    2,
    /如果?(?:您|你)?还?有(?:其他|任何|什么|别的)[^，。]{0,8}(?:问题|需要|疑问)|我无法(?:协助|提供|满足|回答)(?:这|该|您|你)/u,
  ],
  [1, /(?:乐意|很高兴|随时)为?(?:您|你)?(?:帮|解答|服务|效劳)/u],
];

/** True if a sentence, with the text just before it, sounds like customer service. */
export function isServiceTalk(sentence: string): boolean {
  let points = 0;
  for (const [each, manner] of manners) if (manner.test(sentence)) points += each;
  return points >= 2;
}
