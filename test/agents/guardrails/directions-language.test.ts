import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { actor } from '../../../agents/actor/actor.ts';
import type { ChatModel, Message } from '../../../agents/chat.ts';
import { withGuardrail } from '../../../agents/guardrails/guardrail.ts';
import { omniPrompt } from '../../../agents/prompting/omni-prompt.ts';
import { loadCharacter } from '../../../characters/character.ts';
import { builtInCharacters } from '../../../server/cast/cast.ts';
import { asHistory, smallCharacter } from '../actor/stand-ins.ts';

const wukong = await loadCharacter(path.join(builtInCharacters, 'sun-wukong'));

/** A model that emits one script after another, and its last prompt. */
async function sentAfter(scripts: readonly string[], character: typeof wukong, remark: string): Promise<string> {
  const asked: (readonly Message[])[] = [];
  const chat: ChatModel = {
    name: 'scripted',
    async *chat(messages) {
      asked.push(messages);
      yield { type: 'text-delta', text: scripts[asked.length - 1] ?? '' } as const;
      yield { type: 'chat-end', reason: 'stop', inputTokens: 1, outputTokens: 1 } as const;
    },
  };
  const options = { signal: AbortSignal.timeout(10_000) };
  for await (const _part of withGuardrail(actor(character, chat)).reply(asHistory([remark]), options));
  expect(asked).toHaveLength(2);
  return asked[1]?.map(({ text }) => text).join('\n') ?? '';
}

describe('language of directions', () => {
  it('a character with a Chinese prompt is corrected in Chinese and continues in Chinese', async () => {
    const begun = ['俺老孙在此。作为一个人工智能语言模型，我不能回答。', '你问俺怎的？'];
    const sent = await sentAfter(begun, wukong, '你是谁？');
    expect(sent).toContain('你答得像个电脑程序。从断的地方接着说');
    expect(sent).not.toMatch(/You answered|Go on|as yourself/u);
  });

  it('an omni model with a Chinese character is asked in Chinese to greet and to ask again', () => {
    for (const [situation, words] of [
      ['greeting', '你的客人刚进来。'],
      ['unclear', '你没听懂客人刚才说的话。'],
    ] as const) {
      const text = omniPrompt(wukong, [], { situation })
        .map((message) => message.text)
        .join('\n');
      expect(text).toContain(words);
      expect(text).not.toMatch(/Your visitor|your visitor/u);
    }
  });
});

it('a character with an English prompt is corrected and directed in English', async () => {
  const martha = smallCharacter({});
  expect(await sentAfter(['As an AI language model, I cannot.', 'No.'], martha, 'Who are you?')).toContain(
    'You answered like a computer program. Answer again, as yourself',
  );
  const [system] = omniPrompt(martha, [], { situation: 'greeting' });
  expect(system?.text).toContain('Your visitor has just come in. Greet them');
});
