import path from 'node:path';
import llamaTokenizer from 'llama-tokenizer-js';
import { actor } from '../../../agents/actor/actor.ts';
import type { CharacterAgent } from '../../../agents/agent.ts';
import type { ChatModel } from '../../../agents/chat.ts';
import { withGuardrail } from '../../../agents/guardrails/guardrail.ts';
import { loadCharacters } from '../../../characters/character.ts';
import { cascade } from '../../../server/responders/responder.ts';
import { systemClock } from '../../../server/session/contract/clock.ts';
import { TurnTimings } from '../../../server/session/contract/turn-timings.ts';
import { fakeRecognizer } from '../../fakes/recognizer.ts';
import { fakeSynthesizer } from '../../fakes/synthesizer.ts';
import { summarize, type BenchRow } from '../kit/stats.ts';

const bench = 'first-phrase';
/** One of so many replies of each English pack. */
const stride = 4;

/**
 * Tokens that an LLM has written when the first phrase of its reply goes to the synthesizer, over replies of the packs, in
 * tokens of Llama. `no guardrail`: the least possible. `clause by clause`: the baseline, a guardrail that announces
 * nothing of the clause that it is reading.
 */
export async function* run(): AsyncIterable<BenchRow> {
  const packs = await loadCharacters(path.resolve(import.meta.dirname, '../../../characters'));
  const kinds: Readonly<Record<string, (agent: CharacterAgent) => CharacterAgent>> = {
    'no guardrail': (agent) => agent,
    guardrail: (agent) => withGuardrail(agent),
    'clause by clause': (agent) => silentOfNext(withGuardrail(agent)),
  };
  for (const [kind, wrapped] of Object.entries(kinds)) {
    const counts: number[] = [];
    for (const character of packs.filter(({ languages }) => languages[0] === 'en'))
      for (const { asks, reply } of character.lines.filter((_line, at) => at % stride === 0)) {
        const writer = tokenWriter(reply);
        await firstPhrase(wrapped(actor(character, writer)), asks[0] ?? 'Hello.');
        counts.push(writer.written());
      }
    yield summarize(bench, `tokens before the first phrase: ${kind}`, 'tokens', counts);
  }
}

/** A model that writes a reply token by token. */
function tokenWriter(reply: string): ChatModel & { written(): number } {
  let count = 0;
  const tokens = llamaTokenizer.encode(reply, false);
  // A token is known by its text together with all before it.
  const textTo = (end: number): string => llamaTokenizer.decode(tokens.slice(0, end), false);
  return {
    name: 'writer',
    written: () => count,
    async *chat() {
      for (const place of tokens.keys()) {
        count += 1;
        yield { type: 'text-delta', text: textTo(place + 1).slice(textTo(place).length) };
      }
      yield { type: 'chat-end', reason: 'stop', inputTokens: 0, outputTokens: count };
    },
  };
}

/** Reads a reply up to its first phrase. */
async function firstPhrase(agent: CharacterAgent, asked: string): Promise<void> {
  const voice = { kind: 'preset', id: 'fake' } as const;
  const responder = cascade({ recognizer: fakeRecognizer([]), agent, synthesizer: fakeSynthesizer(), voice });
  const options = { signal: new AbortController().signal, scene: '', speed: 1, speaks: false };
  const trace = new TurnTimings(systemClock);
  for await (const part of responder.reply([{ role: 'user', text: asked }], { ...options, trace }))
    if (part.type === 'text') return;
}

function silentOfNext(agent: CharacterAgent): CharacterAgent {
  return {
    ...agent,
    async *reply(history, options) {
      for await (const part of agent.reply(history, options))
        yield part.type === 'text-delta' ? { ...part, next: undefined } : part;
    },
  };
}
