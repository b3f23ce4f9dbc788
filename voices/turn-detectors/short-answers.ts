/** Short answers, each a complete turn by itself: in books they go on after a comma, in talk they stand alone. */
const english = new RegExp(
  `^(?:(?:oh|ah|well|yes|no|ok|okay|alright|and) )*(?:${[
    '(?:oh |well |ah )?(?:yes|yeah|yep|yup|no|nope|nah|okay|ok|sure|right|alright|all right|fine|great|good|perfect|exactly)',
    '(?:yes |no |okay |oh )?(?:please|thanks|thank you|thank you (?:very|so) much|many thanks)(?: sir| madam)?',
    "(?:of course|certainly|absolutely|definitely|indeed|never|maybe|perhaps|not (?:yet|now|really|at all)|i see|got it|that's (?:all|it|right|fine))",
    '(?:hello|hi|hey|hi there|hello there|good (?:morning|evening|afternoon|night|day)|bye|goodbye|good bye|see you|farewell)',
    "(?:i don't know|i don't think so|i think so|i do|i did|i agree|me too|you too|sorry|stop|wait|help|go on|go ahead|come in|really)",
    "(?:yes|no),? (?:i|you|we|they|he|she|it|that) (?:am|is|are|was|were|do|does|did|can|could|will|would|have|has|must|should)(?: not|n't)?",
  ].join('|')})$`,
);

const chinese =
  /^(?:好|好的|好啊|好吧|行|可以|对|对的|是|是的|不|不是|不行|不要|不用|没有|没|有|会|哦|知道了|明白了|谢谢|谢谢你|多谢|再见|拜拜|你好|您好|大圣好|没事|没关系|当然|当然可以|真的|真的吗|为什么|什么|怎么了|算了|停|等等|继续|走吧)$/u;

/** Returns whether a whole transcript, in lower case without marks, is a short answer. */
export function isShortAnswer(plain: string): boolean {
  return english.test(plain) || chinese.test(plain.replaceAll(' ', ''));
}
