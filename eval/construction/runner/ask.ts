import type { z } from 'zod';
import { jsonInReply } from '../json/json-in-reply.ts';
import type { TextMessage } from './model.ts';
import { fillPrompt } from './prompts.ts';
import { Dropped, type DataSampling, type JsonQuestion, type Question, type TextQuestion } from './stage.ts';

/** One answered request, from the journal or from a model. */
export interface Answered {
  readonly reply: string;
  readonly finish: 'stop' | 'length' | 'filter';
}

/** Makes one request, or finds its answer in the journal. `attempt` is unique within the question. */
export type Request = (call: {
  readonly part: string;
  readonly attempt: string;
  readonly promptHash: string;
  readonly messages: readonly TextMessage[];
  readonly sampling: DataSampling;
}) => Promise<Answered>;

/** Counts the outcomes of replies, by reason. */
export type Tally = (outcome: string) => void;

type Read<Value> = { readonly value: Value } | { readonly problem: string; readonly broken?: string };

const defaultAttempts = 5;

/**
 * Asks until a reply is of use. JSON that is broken is sent back once for repair; JSON that was cut off is used up to
 * its last complete element. Throws `Dropped` with the last problem.
 */
export async function askForJson<Value>(question: JsonQuestion<Value>, request: Request, tally: Tally): Promise<Value> {
  const read = (reply: Answered): Read<Value> => readJson(reply, question.schema);
  return attempts(question, { request, tally }, read);
}

/** Asks until `read` accepts a reply. Throws `Dropped` with the last problem. */
export async function askForText(question: TextQuestion, request: Request, tally: Tally): Promise<string> {
  return attempts(question, { request, tally }, ({ reply, finish }) => {
    if (finish === 'length') return { problem: 'cut off' };
    const value = isRefusal(reply) ? undefined : question.read(reply);
    return value === undefined ? { problem: isRefusal(reply) ? 'refusal' : 'unreadable' } : { value };
  });
}

async function attempts<Value>(
  question: Question,
  { request, tally }: { readonly request: Request; readonly tally: Tally },
  read: (reply: Answered) => Read<Value>,
): Promise<Value> {
  const { prompt, values, part = '', sampling = {}, attempts: most = defaultAttempts } = question;
  const messages: readonly TextMessage[] = [
    { role: 'system', content: fillPrompt(prompt.system, values) },
    { role: 'user', content: fillPrompt(prompt.user, values) },
  ];
  let problem = '';
  for (let attempt = 0; attempt < most; attempt += 1) {
    const call = { part, promptHash: prompt.hash, sampling: { temperature: attempt === 0 ? 0 : 1, ...sampling } };
    let answered = await request({ ...call, attempt: `${attempt}`, messages });
    if (isCopyrightApology(answered.reply)) {
      tally('copyright apology');
      const more: TextMessage[] = [
        { role: 'assistant', content: answered.reply },
        {
          role: 'user',
          content:
            'Then do not repeat the passage: continue in summary and in your own words, in the same form of output.',
        },
      ];
      answered = await request({ ...call, attempt: `${attempt}-continue`, messages: [...messages, ...more] });
    }
    let result = answered.finish === 'filter' ? { problem: 'refusal' } : read(answered);
    if ('broken' in result && result.broken !== undefined) {
      tally('repair asked');
      const repair = repairMessages(result.broken, result.problem);
      const repaired = await request({
        ...call,
        sampling: { temperature: 0 },
        attempt: `${attempt}-repair`,
        messages: repair,
      });
      result = read(repaired);
    }
    if ('value' in result) {
      tally('read');
      return result.value;
    }
    problem = result.problem.replace(/:.*/s, '');
    tally(problem);
  }
  throw new Dropped(problem);
}

function repairMessages(broken: string, problem: string): TextMessage[] {
  return [
    { role: 'system', content: 'You correct JSON. Return the corrected JSON and nothing else; change no content.' },
    { role: 'user', content: `The first error: ${problem}\n\n${broken}` },
  ];
}

function readJson<Value>({ reply, finish }: Answered, schema: z.ZodType<Value>): Read<Value> {
  const found = jsonInReply(reply);
  if (found.kind === 'whole') {
    const parsed = schema.safeParse(found.value);
    return parsed.success ? { value: parsed.data } : { problem: `wrong shape: ${issueOf(parsed.error)}` };
  }
  if (found.kind === 'cut') {
    for (const candidate of found.candidates) {
      const parsed = schema.safeParse(candidate);
      if (parsed.success) return { value: parsed.data };
    }
    return { problem: 'cut off' };
  }
  if (found.kind === 'none') return { problem: isRefusal(reply) ? 'refusal' : 'no JSON' };
  return finish === 'length'
    ? { problem: 'cut off' }
    : { problem: `broken JSON: ${found.problem}`, broken: found.text };
}

function issueOf({ issues: [issue] }: z.ZodError): string {
  return `${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`;
}

/** A short reply that says that a text cannot be reproduced for copyright. */
export function isCopyrightApology(reply: string): boolean {
  const count = reply.split(/\s+/).length;
  return count < 100 && /reproduc/i.test(reply) && /copyright/i.test(reply);
}

/** A reply that refuses the task: it begins with an apology, or says that the model cannot help. */
export function isRefusal(reply: string): boolean {
  const start = reply.trim().slice(0, 200);
  return /^(?:I(?:'|’)?m (?:very |really )?sorry|I am sorry|Sorry,? (?:but )?I|I can(?:not|'t|’t) (?:help|assist|comply|provide|continue|do)|As an AI|很?抱歉|对不起，(?:我|但)|我(?:无法|不能)(?:协助|提供|完成|满足))/i.test(
    start,
  );
}
