import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { metricKeys } from '../../../eval/speechrole/judging/metrics.ts';
import { openEngineServer, type EngineServer } from './engine-server.ts';
import type { Answer } from './faults.ts';

/** A fault in one answer of a judge. */
export type JudgeFault = 'garbled' | 'refusal' | 'filter' | 'status-500' | 'status-429' | 'cut';

export interface JudgeServerOptions {
  /** Delay of each answer. */
  readonly delayMs?: number;
  /** Fault of an answer, by its number (from 0) and prompt. */
  readonly faultAt?: (number: number, prompt: string) => JudgeFault | undefined;
  /** Bonus for the first speaker: a biased judge. */
  readonly firstBonus?: number;
  /** Input of the score: the exact recordings (default), their lengths alone, or nothing. */
  readonly scoredBy?: 'bits' | 'lengths' | 'deaf';
  /** Request parameters that it rejects with 400. */
  readonly declines?: readonly string[];
  /** Replaces the built-in scoring: the score of one speaker's recordings (WAV, base64). */
  readonly scores?: (clips: readonly string[], prompt: string) => number;
}

/** A judge that scores recordings: the same audio gets the same score in either position. */
export interface JudgeServer extends EngineServer {
  readonly answered: number;
  /** Number of times each fault was injected. */
  readonly faults: Readonly<Partial<Record<JudgeFault, number>>>;
}

/**
 * Opens a judge with audio input in any of the known request shapes; it answers in the format that the prompt asks for.
 */
export async function openJudgeServer(options: JudgeServerOptions = {}): Promise<JudgeServer> {
  const { delayMs = 0, faultAt = () => undefined } = options;
  const faults: Partial<Record<JudgeFault, number>> = {};
  let number = 0;
  let answered = 0;
  const server = await openEngineServer({
    async 'POST /v1/chat/completions'(request) {
      const fault = faultAt(number, request.bytes.toString('utf8'));
      number += 1;
      if (delayMs > 0) await pause(delayMs);
      if (fault !== undefined) faults[fault] = (faults[fault] ?? 0) + 1;
      const failed = failureOf(fault);
      if (failed !== undefined) return failed;
      const body = request.json();
      if (options.declines?.some((name) => name in body) === true)
        return { status: 400, body: '{"error":{"code":"unsupported_parameter"}}' };
      answered += 1;
      return answerOf(verdictOn(body, options), fault, body['stream'] === true);
    },
  });
  return Object.defineProperties(server, {
    faults: { value: faults },
    answered: { get: () => answered },
  }) as JudgeServer;
}

/** The answer of a server that fails like this; undefined if the answer is whole but bad. */
export function failureOf(fault: JudgeFault | undefined): Answer | undefined {
  if (fault === 'status-500') return { status: 500, body: '{"error":{"code":"server_error"}}' };
  if (fault === 'status-429') return { status: 429, headers: { 'retry-after': '0' }, body: '{}' };
  if (fault === 'cut') return { body: '{"choices":[{"message":{"cont' };
  return undefined;
}

function answerOf(text: string, fault: JudgeFault | undefined, stream: boolean): Answer {
  const content = fault === 'garbled' ? 'Both have their merits.' : fault === undefined ? text : '';
  const message = { role: 'assistant', content, refusal: fault === 'refusal' ? 'I cannot judge voices.' : null };
  const finish_reason = fault === 'filter' ? 'content_filter' : 'stop';
  const usage = { prompt_tokens: 900, completion_tokens: 60, prompt_tokens_details: { audio_tokens: 700 } };
  if (!stream) {
    const completion = { model: 'judge-2026', choices: [{ message, finish_reason }], usage };
    return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(completion) };
  }
  const halves = [content.slice(0, 20), content.slice(20)].map((half) => ({ choices: [{ delta: { content: half } }] }));
  const chunks = [...halves, { choices: [{ delta: {}, finish_reason }] }, { choices: [], usage }];
  return {
    headers: { 'content-type': 'text/event-stream' },
    body: [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n'],
  };
}

interface Part {
  readonly type: string;
  readonly text?: string;
  readonly input_audio?: { readonly data: string };
  readonly audio_url?: { readonly url: string };
}

function verdictOn(body: Record<string, unknown>, options: JudgeServerOptions): string {
  const [, user] = body['messages'] as readonly { readonly content: readonly Part[] }[];
  const parts = user?.content ?? [];
  const text = parts.map((part) => part.text ?? '').join('\n');
  // Recordings of the first speaker come before the next text, those of the second after it.
  const groups: string[][] = [[]];
  for (const part of parts) {
    const data = part.input_audio?.data ?? part.audio_url?.url;
    if (data !== undefined) groups.at(-1)?.push(data.replace(/^data:[^,]*,/, ''));
    else if (groups.at(-1)?.length !== 0) groups.push([]);
  }
  const [first = [], second = []] = groups;
  const score = (clips: readonly string[], metric: string, bonus: number): number => {
    const { scoredBy: ear = 'bits', scores } = options;
    if (scores !== undefined) return scores(clips, text);
    const heard = ear === 'deaf' ? '' : ear === 'bits' ? clips.join() : clips.map((clip) => clip.length).join();
    const hash = createHash('sha1').update(heard).update(metric).digest();
    return Math.min(10, 3 + ((hash[0] as number) % 7) + bonus);
  };
  const pair = (metric: string): [number, number] => [
    score(first, metric, options.firstBonus ?? 0),
    score(second, metric, 0),
  ];
  if (text.includes('[Scores]')) {
    const [a, b] = pair(text.slice(text.indexOf('# Your task')));
    return `A is plain, B is warm.\n[Scores]: (${Math.round(a)}, ${Math.round(b)})`;
  }
  if (text.includes('"Instruction_Adherence"')) {
    const entries = metricKeys.map((metric) => {
      const [score_a, score_b] = pair(metric);
      return [metric, { reason: 'heard', score_a, score_b }] as const;
    });
    return `\`\`\`json\n${JSON.stringify(Object.fromEntries(entries))}\n\`\`\``;
  }
  const [score_a, score_b] = pair(text.slice(text.indexOf('# What to judge')));
  const words = { speaker_a: 'Clear, at 0.5 s a pause.', speaker_b: 'Warm.', comparison: 'Close.' };
  return JSON.stringify({ ...words, score_a, score_b });
}
