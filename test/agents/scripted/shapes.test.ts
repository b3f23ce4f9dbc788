import { describe, expect, it } from 'vitest';
import { kinship, shapeOf, type Shape } from '../../../agents/scripted/shapes.ts';

const shaped: readonly (readonly [Shape, ...string[]])[] = [
  ['tell', 'Tell me about the harbour.', '讲讲你的家乡'],
  ['opinion', 'What do you think of elections?', '你觉得钱重要吗？'],
  ['either', 'Do you prefer tea or coffee?', '你喜欢茶还是酒？'],
  ['number', 'How old is the bridge?', 'How many ships have you got?', '你有几个孩子？'],
  ['who', 'Who built it?', '那是谁做的？'],
  ['where', 'And where is your brother?', 'Can you tell me where the mill is?', '磨坊在哪儿？'],
  ['when', 'When did you leave?', 'What time do you get up?', '你什么时候走的？'],
  ['why', 'But why did you leave?', '你为什么走？'],
  ['knowing', 'Have you heard of penguins?', '你听说过企鹅吗？'],
  ['request', 'Could you lend me a pen?', 'Sing me a song.', '给我唱一首歌吧'],
  ['leave', 'Can I come with you?', '我能跟你去吗？'],
  ['advice', 'Should I tell her?', '你说我该不该告诉她？'],
  ['urge', 'You should be nicer to them.', 'Be careful.', '别忘了'],
  ['whether-you', 'Do you like tea?', 'You like it here?', '你喜欢喝茶吗？'],
  ['whether', 'Is the queen at home?', '女王在家吗？'],
  ['you', 'I think you are lonely.', 'You look well.', '你看起来很累'],
  ['self', 'I work in a mill.', 'My son is ill.', '我在磨坊工作'],
  ['remark', 'When I was young we walked.', 'It rained all day.', '天黑得早'],
];

describe('shape of a message', () => {
  it.each(shaped.flatMap(([shape, ...messages]) => messages.map((message) => [shape, message] as const)))(
    'the shape %s is seen in “%s”',
    (shape, message) => {
      expect(shapeOf(message)).toBe(shape);
    },
  );

  it('a line about a person, a place or a reason is no answer to a question for another of them', () => {
    expect(kinship('Where is the baker?', 'Who is the baker?')).toBeLessThan(0.75);
    expect(kinship('How long is the bridge?', 'How old is the bridge?')).toBeLessThan(0.75);
    expect(kinship('How old is the bridge?', 'What is the age of the bridge?')).toBeGreaterThan(0.6);
    expect(kinship('Who is the baker?', 'Tell me about the baker')).toBeGreaterThan(0.9);
    expect(kinship('My wife was furious.', 'I am furious')).toBeLessThan(0.75);
  });
});
