const units =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
const tens = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const chineseDigits = '零一二三四五六七八九';

const englishNumber = String.raw`(?:\d{1,9}(?:\.\d{1,6})?|(?:(?:${[...tens, ...units].join('|')}|hundred|thousand|and|a)[ -]?){1,8})`;
const english = new RegExp(
  String.raw`(?<![\p{L}\d.])(${englishNumber})\s*(?:(?:years?|days?|weeks?|hours?|pounds?|dollars?) )?(plus|minus|take away|times|(?:percent|%) of|multiplied by|divided by|over|(?<=[\d\s])[-+*x×÷/](?=[\d\s]))\s*(${englishNumber})(?![\p{L}\d])`,
  'iu',
);
const chineseNumber = String.raw`(?:\d{1,9}|[零一二两三四五六七八九十百千]{1,8})`;
const chinese = new RegExp(
  String.raw`(${chineseNumber})\s*(加上?|减去?|乘以?|除以|[-+*×÷/])\s*(${chineseNumber})`,
  'u',
);

/** Signs also stand between numbers that are no sum, such as "24/7": they count if something is asked, or nothing else is said. */
const sumAsked = /=|\b(?:what|how much|calculate|compute|equals?|solve)\b|等于|多少|算/iu;
const barely = /^[\d\s.+*x×÷/?？-]+$/iu;

/** Computes the first sum, difference, product or quotient of two numbers in a short text, such as "twelve times twelve". */
export function arithmeticIn(text: string): string | undefined {
  if (text.length > 200) return undefined;
  const [, left = '', operator = '', right = ''] = english.exec(text) ?? chinese.exec(text) ?? [];
  if (operator === '') return told(text);
  const isSign = !/\p{L}{2}|[加减乘除]/u.test(operator);
  if (isSign && !sumAsked.test(text) && !barely.test(text)) return undefined;
  const [first, second] = [numberOf(left), numberOf(right)];
  if (first === undefined || second === undefined) return undefined;
  const value = computed(first, operator.toLowerCase(), second);
  if (!Number.isFinite(value)) return undefined;
  return String(Math.round(value * 100) / 100);
}

const countAsked =
  /\bhow (?:many|much|far)\b|\bwhat (?:do|does|did|will|would) \p{L}+ (?:get|make|earn|pay|owe)\b|\bwhat(?:'s|’s| is) (?:that|the change|the total|it)\b|多少|几个/iu;
/** Words that name an operation on two numbers, in order of precedence. */
const telling: readonly (readonly [string, RegExp])[] = [
  ['÷', /\b(?:shared?|split|divided?|between|among)\b|平分|分给/iu],
  ['-', /\b(?:left|gets? off|gave|gives me|give away|change|remain(?:s|ing)?|eats?|ate|lose|lost)\b|剩|找|吃了|用掉/iu],
  [
    '×',
    /\b(?:each|every|apiece|per|at|holds?|an? (?:hour|day|week|month|year|mile|pound|piece))\b|每|一[个只斤本张](?=\S*[块元])/iu,
  ],
  ['+', /\b(?:altogether|in all|in total|together|another)\b|一共|总共/iu],
];

/** Computes the answer to a short word problem with two numbers: "Four friends share thirty-six coins. How many does each get?" */
function told(text: string): string | undefined {
  if (!countAsked.test(text) || /\ba half\b/iu.test(text)) return undefined;
  const isChinese = /\p{Script=Han}/u.test(text);
  const number = isChinese ? chineseNumber : String.raw`(?<![\p{L}\d])${englishNumber}(?![\p{L}\d])`;
  const numbers = [...text.matchAll(new RegExp(number, 'giu'))]
    .map(([words]) => numberOf(words.trim()))
    .filter((value) => value !== undefined && value > 1);
  const sign = telling.find(([, words]) => words.test(text))?.[0];
  const [first, second] = numbers;
  if (numbers.length !== 2 || first === undefined || second === undefined || sign === undefined) return undefined;
  const [most, least] = [Math.max(first, second), Math.min(first, second)];
  const value = computed(most, sign, least);
  return Number.isFinite(value) ? String(Math.round(value * 100) / 100) : undefined;
}

function computed(left: number, operator: string, right: number): number {
  if (operator === 'plus' || operator === '+' || operator.startsWith('加')) return left + right;
  if (/^(?:percent|%)/u.test(operator)) return (left * right) / 100;
  if (operator === 'minus' || operator === 'take away' || operator === '-' || operator.startsWith('减'))
    return left - right;
  if (operator.startsWith('div') || operator === 'over' || ['÷', '/', '除以'].includes(operator)) return left / right;
  return left * right;
}

function numberOf(words: string): number | undefined {
  if (/^\d/.test(words)) return Number(words);
  return /\p{Script=Han}/u.test(words) ? chineseNumberOf(words) : englishNumberOf(words);
}

function englishNumberOf(words: string): number | undefined {
  let total = 0;
  let part = 0;
  let isNumber = false;
  for (const word of words.toLowerCase().split(/[ -]+/)) {
    const unit = units.indexOf(word);
    const ten = tens.indexOf(word);
    if (unit >= 0) part += unit;
    else if (ten >= 0) part += (ten + 2) * 10;
    else if (word === 'hundred') part = Math.max(1, part) * 100;
    else if (word === 'thousand') {
      total += Math.max(1, part) * 1_000;
      part = 0;
    }
    isNumber ||= word !== 'and' && word !== 'a' && word !== '';
  }
  return isNumber ? total + part : undefined;
}

function chineseNumberOf(words: string): number | undefined {
  let total = 0;
  let digit: number | undefined;
  for (const sign of words) {
    const scale = { 十: 10, 百: 100, 千: 1_000 }[sign];
    if (scale === undefined) digit = sign === '两' ? 2 : chineseDigits.indexOf(sign);
    else {
      total += (digit ?? 1) * scale;
      digit = undefined;
    }
  }
  return total + (digit ?? 0);
}
