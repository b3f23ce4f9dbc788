import { describe, expect, it } from 'vitest';
import { actsOf, nameIn } from '../../../../agents/scripted/acts/acts.ts';
import type { Act } from '../../../../agents/scripted/acts/act-network.ts';
import { arithmeticIn } from '../../../../agents/scripted/acts/arithmetic.ts';
import { pronounIn } from '../../../../agents/scripted/follow-up.ts';

const spoken: readonly (readonly [Act, ...string[]])[] = [
  [
    'thanks',
    'Cool, thanks for telling me about it.',
    'Thank you, I had a lovely time with you.',
    'Much obliged to you.',
  ],
  ['change', "Let's not talk about politics any more, please.", "Fine, let's drop it.", '好了，先别说打妖怪的事了。'],
  ['greeting', 'Hello there!', 'Good evening.', '你好！', '早上好'],
  ['introduction', 'My name is Ruth and I am a baker.', "Hi, I'm Tom.", '我叫小明。'],
  ['meeting', 'It is nice to meet you.', '很高兴认识你'],
  ['wellbeing', 'How are you today?', '你最近怎么样？'],
  ['hearing', 'Hi, can you hear me?', 'Are you still there?', '听得见吗？'],
  ['doing', 'What are you doing right now?', '你在干什么？'],
  ['who', 'Who are you?', 'What should I call you?', "Hi there, what's your name?", '你是谁？'],
  ['where', 'Where are we right now?', 'What is this place?', '这是什么地方？'],
  ['when', 'What year is it?', '现在是哪一年？'],
  ['question', 'Do you like the sea?', 'Tell me about the war.', '你想家不'],
  ['statement', 'The bread is in the oven.', '面包在烤箱里。'],
  ['loss', 'My cat died yesterday.', 'I lost my father in May.', '我的猫死了。'],
  ['sad', "I'm feeling a bit down.", '我很难过。'],
  ['lonely', 'I feel so lonely here.', '我好寂寞'],
  ['angry', 'I had an awful week.', '气死我了'],
  ['tired', "I'm exhausted.", '我好累'],
  ['afraid', "I'm nervous about tomorrow.", "I'm so stressed.", '我有点紧张'],
  ['ill', 'I have a headache.', '我头疼'],
  ['bored', "I'm bored.", '好无聊啊'],
  ['failed', 'I lost my job.', '我失败了'],
  ['happy', 'I won a prize, I am so happy!', '我考上大学了，真高兴，有好消息！'],
  ['sorry', 'Sorry, I did not mean that.', '对不起'],
  ['insult', 'You are an idiot.', 'Shut up!', '你真笨'],
  ['rude', 'You are so arrogant.'],
  [
    'stop',
    'Hold on, the bell is ringing.',
    'Shh, the baby sleeps.',
    'Please stop talking.',
    'Wait a moment.',
    "I don't want to talk anymore.",
    '请先别说话。',
    '我不想再聊了。',
  ],
  ['disbelief', "I don't believe you.", '我不信'],
  ['praise', 'You are brilliant!', '你真厉害'],
  ['interest', 'That sounds fascinating.', '真有意思'],
  ['advice', 'What should I do?', "I don't know what to do.", '我该怎么办？'],
  ['agree', 'You are right.', "That's so true.", '你说得对'],
  ['disagree', 'I disagree with that.', '你说错了'],
  ['confused', 'What do you mean?', 'You make no sense.', '我没听懂', '一点道理都没有。'],
  ['yes', 'Okay.', '好的'],
  ['no', 'Not really.', '不是'],
  ['change', 'Let us talk about something else.', '换个话题吧'],
  ['why', 'Why?', '为什么？'],
  ['more', 'Tell me more.', '接着说'],
  ['thanks', 'Thank you so much.', '谢谢'],
  ['goodbye', 'Thanks, I must go now.', '我得走了', '明天见！'],
  ['good-night', 'Good night!', '晚安'],
  ['arithmetic', 'What is three plus nine?', '三加九等于几？'],
  ['laugh', 'Ha ha ha!', 'That was so funny.', '哈哈哈'],
  ['back', "Okay, I'm back.", '我回来了'],
  ['dismissed', 'Never mind.', 'Just kidding!', 'No offence.', '开玩笑的', '别生气，我跟你闹着玩的。'],
  ['asks-leave', 'May I ask you a question?', '我可以问你一个问题吗？'],
  ['help', 'Can you help me find my cat?', '你能帮我吗？'],
  ['luck', 'Wish me luck!', '祝我好运吧'],
  ['manner', 'Could you speak a little slower?', '说慢一点好吗？'],
  ['offer', 'Would you like a biscuit?', '要不要喝点茶？'],
  ['pity', 'That must have been terrible for you.', 'Poor thing.', 'That must have hurt.'],
  ['own-fact', 'What is my name?', 'Do you remember where I live?', 'Which instrument do I play?', '我叫什么名字？'],
];

describe('dialogue act', () => {
  it.each(spoken.flatMap(([act, ...messages]) => messages.map((message) => [act, message] as const)))(
    'the act %s is heard in “%s”',
    (act, message) => {
      const language = /\p{Script=Han}/u.test(message) ? 'zh' : 'en';
      expect(actsOf(message, language)[0]?.act).toBe(act);
    },
  );

  it('a question or a farewell counts more than the greeting or the thanks beside it', () => {
    expect(actsOf('Hello! Do you have a room?', 'en')[0]?.act).toBe('question');
    expect(actsOf('Thanks, that was fun. Goodbye!', 'en')[0]?.act).toBe('goodbye');
  });

  it('what only sounds like an act is not heard as one', () => {
    expect(actsOf('Who is stronger, you or Erlang?', 'en')[0]?.act).toBe('question');
    expect(actsOf('你的金箍棒有多重？', 'zh')[0]?.act).toBe('question');
    expect(actsOf('你太棒了', 'zh')[0]?.act).toBe('praise');
    expect(actsOf('二郎神和你谁更厉害', 'zh')[0]?.act).toBe('question');
    expect(actsOf('我饿死了', 'zh')[0]?.act).not.toBe('loss');
    expect(actsOf('I lost my keys.', 'en')[0]?.act).not.toBe('loss');
    expect(actsOf('Good to see you again.', 'en')[0]?.act).not.toBe('goodbye');
    expect(actsOf('I take care of old people.', 'en')[0]?.act).not.toBe('goodbye');
    expect(actsOf('Do you sleep well?', 'en')[0]?.act).toBe('question');
    expect(actsOf('How do I get there?', 'en')[0]?.act).toBe('question');
    expect(actsOf('Who am I talking to?', 'en')[0]?.act).toBe('who');
  });

  it.each([
    ['My name is Ruth.', 'Ruth'],
    ["I'm Tom, from Leeds.", 'Tom'],
    ["I'm Mrs Brown from next door.", 'Mrs Brown'],
    ["Ed's the name.", 'Ed'],
    ["I'm German.", undefined],
    ["I'm a nurse.", undefined],
    ['我叫小明，你呢？', '小明'],
    ['我叫什么名字？', undefined],
  ])('the name in “%s” is %s', (message, name) => {
    expect(nameIn(message)).toBe(name);
  });

  it.each([
    ['What is twelve times twelve?', '144'],
    ['two hundred and five minus 6', '199'],
    ['15 divided by 4?', '3.75'],
    ['七乘以八是多少', '56'],
    ['二十加三十五', '55'],
    ['I am one of two brothers', undefined],
    ['ten over zero', undefined],
  ])('the sum in “%s” is %s', (message, sum) => {
    expect(arithmeticIn(message)).toBe(sum);
  });

  it.each([
    "I'm sixty-one, and I run a bakery.",
    'I turned seventy-five in March.',
    'We are open 24/7.',
    'Are you open 24/7?',
    'My number is 555-1234.',
  ])('a number that is not part of a sum is not computed: %s', (message) => {
    expect(arithmeticIn(message)).toBeUndefined();
  });

  it('a short question about “it” is a follow-up, and one with a subject of its own is not', () => {
    expect(pronounIn('How fast does it go?')).toBe('it');
    expect(pronounIn('Who was she?')).toBe('she');
    expect(pronounIn('Why did you not marry him in the end?')).toBeUndefined();
    expect(pronounIn('How is it going?')).toBeUndefined();
  });
});
