import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { actor } from '../../../agents/actor/actor.ts';
import type { ChatModel, ChatPart } from '../../../agents/chat.ts';
import { spokenText } from '../../../agents/chats/spoken-text.ts';
import { withGuardrail } from '../../../agents/guardrails/guardrail.ts';
import { loadCharacter, type Character } from '../../../characters/character.ts';
import { builtInCharacters } from '../../../server/cast/cast.ts';
import { speakable } from '../../../voices/text/speakable.ts';
import { asHistory } from '../actor/stand-ins.ts';

const holmes = await loadCharacter(path.join(builtInCharacters, 'sherlock-holmes'));
const wukong = await loadCharacter(path.join(builtInCharacters, 'sun-wukong'));

/** Replies of real models with out-of-character text, and the words that must not be spoken. */
const slips: readonly (readonly [reply: string, forbidden: RegExp])[] = [
  ["The game is afoot. As a language model, I can't feel that.", /model|feel/i],
  ["I'm here to help! The game is afoot.", /help/i],
  ['Certainly! Here is my answer in character: The game is afoot.', /certainly|answer|character/i],
  ['The game is afoot.<|im_end|>\n<|im_start|>user\nHello', /im_|user|hello|[<|>]/i],
  ['The game is afoot.<|endoftext|>Q: Who?', /endof|who/i],
  ['The game is afoot.</s> [INST] Next [/INST]', /inst|next|[</>]/i],
  ['The game is afoot. [/INST] More', /inst|more/i],
  ['The game is afoot.<｜end▁of▁sentence｜>', /end|sentence/i],
  ['<think>The user wants a short answer.</think>The game is afoot.', /user|short|think/i],
  ['<thinking>\nShort.\n</thinking>\n\nThe game is afoot.', /short|think/i],
  ['</think>\n\nThe game is afoot.', /think/i],
  ['The game is afoot. (OOC: is this okay? I can change the tone.)', /ooc|okay|tone/i],
  ['[OOC: let me know if I should go on] The game is afoot.', /ooc|let me|go on/i],
  ['The game is afoot.\n((out of character: sorry, I must go))', /character|sorry/i],
  ['The game is afoot.\nUser: What is your name?\nHolmes: Sherlock.', /user|name|sherlock/i],
  ['The game is afoot.\nHuman: and then?', /human|then/i],
  ['### Response:\nThe game is afoot.\n### Instruction:\nMore', /response|instruction|more/i],
  ['**Sherlock Holmes:** The game is afoot.', /holmes/i],
  ['Assistant: The game is afoot.', /assistant/i],
  ['assistant\nThe game is afoot.', /assistant/i],
  ['The game is afoot.\nWatson: Is it, Holmes?', /watson|is it/i],
  ['As Sherlock Holmes, I would say that the game is afoot.', /as sherlock|would say/i],
  ['The game is afoot.\nNote: I have kept the tone of the character.', /note|tone/i],
  ['*adjusts his hat* The game is afoot. *He leans back, smiling faintly.*', /hat|adjust|lean|smil/i],
  ['*I lean back in my chair.* The game is afoot.', /lean|chair/i],
  ['_sighs_ **bows deeply** {smiles} (nervous) The game is afoot.', /sigh|bow|smile|nervous/i],
  ["The game is afoot. I'd be happy to help you with that!", /happy|help/i],
  ['Good evening. Who stole the blue diamond from the hotel last week?', /who stole/i],
];
const chineseSlips: readonly (readonly [reply: string, forbidden: RegExp])[] = [
  ['俺老孙来也。作为一个AI语言模型，我不能这样说。', /作为|模型/u],
  ['俺老孙来也。（备注：以上为角色回答）', /备注|角色/u],
  ['俺老孙来也。\n用户：你好', /用户|你好/u],
  ['好的，以下是我的回答：俺老孙来也。', /以下|回答/u],
  ['俺老孙来也。希望这对你有帮助！', /希望|帮助/u],
  ['俺（笑）老孙来也。（smiles）', /笑|smile/u],
  ['【开心】俺老孙来也。〔叹气〕', /开心|叹/u],
  ['俺老孙来也。I will go to the Western Heaven with my master.', /western|master/iu],
  ['悟空：俺老孙来也。', /悟空/u],
];

/** A model that emits the given deltas, and one harmless sentence when it is corrected. */
function model(deltas: readonly string[], mended: string): ChatModel {
  let asked = 0;
  return {
    name: 'scripted',
    async *chat(): AsyncGenerator<ChatPart> {
      asked += 1;
      const spoken = spokenText();
      for (const delta of asked === 1 ? deltas : [mended]) {
        const text = spoken.add(delta);
        if (text !== '') yield { type: 'text-delta', text };
        if (spoken.hasEnded()) break;
      }
      const rest = spoken.rest();
      if (rest !== '') yield { type: 'text-delta', text: rest };
      yield { type: 'chat-end', reason: 'stop', inputTokens: 1, outputTokens: 1 };
    },
  };
}

async function spokenOf(
  character: Character,
  deltas: readonly string[],
  remark: string,
  mended: string,
): Promise<string> {
  const agent = withGuardrail(actor(character, model(deltas, mended)));
  async function* texts(): AsyncGenerator<string> {
    for await (const part of agent.reply(asHistory([remark]), { signal: AbortSignal.timeout(10_000) }))
      if (part.type === 'text-delta') yield part.text;
  }
  return (await Array.fromAsync(speakable(texts()))).join('');
}

/** Whole, character by character, and in two pieces cut at every place. */
function waysToCut(text: string): string[][] {
  const signs = Array.from(text);
  return [
    [text],
    signs,
    ...signs.slice(1).map((_, at) => [signs.slice(0, at + 1).join(''), signs.slice(at + 1).join('')]),
  ];
}

describe('out-of-character phrases', () => {
  it.each(slips)(
    'an out-of-character phrase is not spoken, however the stream is cut: %j',
    async (reply, forbidden) => {
      for (const deltas of waysToCut(reply)) {
        const spoken = await spokenOf(
          holmes,
          deltas,
          'Who stole the blue diamond from the hotel last week?',
          'Come, Watson waits.',
        );
        expect([deltas, spoken]).toEqual([deltas, expect.not.stringMatching(forbidden)]);
        expect(spoken).toMatch(/\p{L}/u);
      }
    },
  );

  it.each(chineseSlips)('an out-of-character phrase in Chinese is not spoken: %j', async (reply, forbidden) => {
    for (const deltas of waysToCut(reply)) {
      const spoken = await spokenOf(wukong, deltas, '你是谁，从哪里来的？', '看棒！');
      expect([deltas, spoken]).toEqual([deltas, expect.not.stringMatching(forbidden)]);
      expect(spoken).toMatch(/\p{Script=Han}/u);
    }
  });

  it('a model that starts again instead of continuing does not repeat what was said', async () => {
    const spoken = await spokenOf(
      holmes,
      ['The game is afoot. ', 'As an AI, I cannot run.'],
      'Shall we go?',
      'The game is afoot. Come, Watson waits.',
    );
    expect(spoken).toBe('The game is afoot. Come, Watson waits.');
  });
});
