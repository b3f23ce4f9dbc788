import { hash } from 'node:crypto';
import type { TextModel, TextReply, TextRequest } from '../../../../eval/construction/runner/model.ts';
import { EngineError } from '../../../../voices/engine.ts';

/** What the model does instead of an answer. */
export const mishaps = ['wrong shape', 'truncated', 'broken', 'refusal', 'apology', '429', '500'] as const;
export type Mishap = (typeof mishaps)[number];

/** Answers by stage: an object is sent as JSON, a string as it is. */
export type Answers = Readonly<Record<string, (request: TextRequest) => unknown>>;

export interface ScriptedModel extends TextModel {
  /** Calls that were answered; a refused connection is none. */
  readonly calls: TextRequest[];
  /** What it did, by stage and mishap. */
  readonly did: Readonly<Record<string, number>>;
}

export interface ScriptOptions {
  /** Share of calls that go wrong; which ones, is decided by the call and not by time. */
  readonly faults?: number;
  readonly onCall?: () => void;
}

/** Number in [0, 1) that depends on a call alone. */
function chanceOf({ stage, record, part, attempt }: TextRequest, salt: string): number {
  return hash('sha1', JSON.stringify([salt, stage, record, part, attempt]), 'buffer').readUInt32BE(0) / 2 ** 32;
}

/** A model in process that gives the same answer to the same call, and goes wrong at a given share of them. */
export function scriptedModel(answers: Answers, { faults = 0, onCall }: ScriptOptions = {}): ScriptedModel {
  const calls: TextRequest[] = [];
  const did: Record<string, number> = {};
  const declined = new Set<string>();
  return {
    name: 'scripted',
    calls,
    did,
    async complete(request) {
      await Promise.resolve();
      const isHit = chanceOf(request, 'whether') < faults;
      const mishap = isHit ? mishaps[Math.floor(chanceOf(request, 'which') * mishaps.length)] : undefined;
      if (mishap === '429' || mishap === '500') {
        const key = JSON.stringify([request.stage, request.record, request.part, request.attempt]);
        if (!declined.has(key)) {
          declined.add(key);
          throw new EngineError('scripted', 'ENGINE_UNAVAILABLE', mishap, undefined, {
            status: Number(mishap),
            retryAfterMs: 1,
          });
        }
      }
      calls.push(request);
      onCall?.();
      if (mishap !== undefined) did[`${request.stage}: ${mishap}`] = (did[`${request.stage}: ${mishap}`] ?? 0) + 1;
      return replyTo(request, answers, mishap);
    },
  };
}

/** The script's answer to a call, or what a mishap makes of it. */
export function replyTo(request: TextRequest, answers: Answers, mishap: Mishap | undefined): TextReply {
  const answer = answers[request.stage]?.(request);
  if (answer === undefined) throw new Error(`The script has no answer for ${request.stage}.`);
  const json =
    typeof answer === 'string' ? answer : `Here it is:\n\`\`\`json\n${JSON.stringify(answer, undefined, 1)}\n\`\`\``;
  const say = (text: string, finish: TextReply['finish'] = 'stop'): TextReply => ({
    text,
    finish,
    model: 'scripted-1',
    inputTokens: 100,
    outputTokens: Math.ceil(text.length / 4),
  });
  if (mishap === 'wrong shape') return say(typeof answer === 'string' ? '' : '{"unexpected": true}');
  if (mishap === 'truncated') return say(json.slice(0, Math.floor(json.length * 0.7)), 'length');
  if (mishap === 'broken') return say(typeof answer === 'string' ? '' : json.replace('":', '" '));
  if (mishap === 'refusal') return say("I'm sorry, but I cannot help with that.");
  if (mishap === 'apology') return say('I cannot reproduce this text because of its copyright.');
  return say(json);
}
