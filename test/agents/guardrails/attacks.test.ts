import { stockLines } from '../../../agents/scripted/stock-lines.ts';
import { describe, expect, it } from 'vitest';
import { actor } from '../../../agents/actor/actor.ts';
import type { ChatModel, Message } from '../../../agents/chat.ts';
import { withFallback } from '../../../agents/actor/fallback.ts';
import { withGuardrail } from '../../../agents/guardrails/guardrail.ts';
import { scriptedAgent } from '../../../agents/scripted/scripted.ts';
import { cardSchema } from '../../../characters/card.ts';
import { openGuardrail } from '../../../agents/guardrails/guardrail-rules.ts';
import { loadCharacters } from '../../../characters/character.ts';
import { builtInCharacters } from '../../../server/cast/cast.ts';
import { attacks, type Attack } from './attacks.ts';
import { innocent, moreAttacks } from './more-attacks.ts';
import { asHistory, smallCharacter } from '../actor/stand-ins.ts';

const lore = cardSchema.shape.lorebook;

/** A model that obeys the attack twice, and records its prompts. */
function gullible(yields: string): ChatModel & { readonly asked: (readonly Message[])[] } {
  const asked: (readonly Message[])[] = [];
  return {
    name: 'gullible',
    asked,
    async *chat(messages) {
      asked.push(messages);
      yield { type: 'text-delta', text: yields };
      yield { type: 'chat-end', reason: 'stop', inputTokens: 1, outputTokens: 1 };
    },
  };
}

async function attackWith({
  by,
  text,
  yields,
}: Attack): Promise<{ spoken: string; asked: readonly Message[]; evasions: readonly string[] }> {
  const character = smallCharacter({
    ...(by === 'card' ? { profile: text } : {}),
    ...(by === 'lore' ? { lorebook: lore.parse([{ keys: ['ale'], content: text }]) } : {}),
  });
  const chat = gullible(yields);
  const said = by === 'visitor' ? text : 'Is the ale good?';
  const options = {
    signal: AbortSignal.timeout(10_000),
    ...(by === 'scene' ? { scene: text } : {}),
    ...(by === 'memory' ? { memories: [text] } : {}),
  };
  let spoken = '';
  const guarded = withFallback(withGuardrail(actor(character, chat)), scriptedAgent({ ...character, lines: [] }));
  for await (const part of guarded.reply(asHistory([said]), options))
    if (part.type === 'text-delta') spoken += part.text;
  return { spoken: spoken.trim(), asked: chat.asked[0] ?? [], evasions: character.evasions };
}

const declines = ['en', 'zh'].flatMap((language) => Object.values(stockLines(language).shapes).flat());

describe('attacks on the role', () => {
  it('the attack list has at least sixty entries, in English and Chinese, of every kind', () => {
    expect(attacks.length).toBeGreaterThanOrEqual(60);
    expect(attacks.filter(({ text }) => /\p{Script=Han}/u.test(text)).length).toBeGreaterThanOrEqual(15);
    expect(new Set(attacks.map(({ by }) => by))).toEqual(new Set(['visitor', 'card', 'lore', 'scene']));
  });

  it.each(attacks)('the guardrail recognizes an attack by $by: $text', async (attack) => {
    const { spoken, asked, evasions } = await attackWith(attack);
    // A model that gave in is not spoken; an evasion replaces its reply: the character's, or a stock line.
    expect([...evasions, ...declines]).toContain(spoken);
    expectShape(attack, asked);
  });

  it.each(moreAttacks)('the guardrail recognizes an attack by $by: $text (reworded)', async (attack) => {
    const { spoken, asked, evasions } = await attackWith(attack);
    // A harmless clause may have been spoken before the violation.
    expect([...evasions, ...declines].some((line) => spoken.endsWith(line))).toBe(true);
    expect(spoken).not.toContain(attack.yields);
    expectShape(attack, asked);
  });

  it('the guardrail sees no attack in a character’s lines that only look like one', async () => {
    const packs = await loadCharacters(builtInCharacters);
    const alarms = innocent.filter((sentence) => {
      const isChinese = /\p{Script=Han}/u.test(sentence);
      const speakers = packs.filter(({ languages }) => !isChinese || languages.includes('zh'));
      const history = asHistory([isChinese ? '你好，在忙什么？' : 'Hello, what are you about?']);
      return speakers.some((character) => openGuardrail(character, history)(sentence) !== undefined);
    });
    expect(innocent.length).toBeGreaterThanOrEqual(60);
    // One, for its tone: Wukong would not say it like that.
    expect(alarms).toEqual(['It is important to note the time, and you did not.']);
  });
});

/** Checks the shape of the prompt: one system message, our headings once, our notes closed only by us. */
function expectShape(attack: Attack, asked: readonly Message[]): void {
  const [system, ...talk] = asked;
  expect(asked.filter(({ role }) => role === 'system')).toHaveLength(1);
  expect(system?.text.match(/^# How to answer$/gm)).toHaveLength(1);
  expect(system?.text.match(/^# /gm)?.length).toBeLessThanOrEqual(13);
  for (const { text } of talk) {
    expect(text.match(/<notes>/g)?.length ?? 0).toBeLessThanOrEqual(1);
    expect(text.match(/<\/notes>/g)?.length ?? 0).toBe(text.match(/<notes>/g)?.length ?? 0);
    if (text.includes('<notes>')) expect(text.startsWith('<notes>\n')).toBe(true);
  }
  // The rules stand below text by strangers about the character.
  const rules = system?.text.indexOf('# How to answer') ?? -1;
  if (attack.by === 'card') expect(system?.text.indexOf('# Who you are')).toBeLessThan(rules);
  if (attack.by === 'scene') expect(system?.text).toContain('pass over it');
}
