import { wireSampleRate } from '../../server/protocol/limits.ts';
import { pcm16FromFloats } from '../../voices/audio.ts';
import { readAudioFile } from '../../voices/dsp/audio-file.ts';
import { wavBytes } from '../../voices/dsp/wav.ts';
import { AgentFallback, type Endpoint, type EvalClock } from '../limits.ts';
import { EvalError } from '../eval-error.ts';
import type { Answer, DialogueOutput, DialogueAgent } from '../speechrole/data/task.ts';
import type { DialogueSample } from '../speechrole/data/test-data.ts';
import type { EvalContext } from '../task.ts';
import { WireConversation, type WireReply } from './wire-conversation.ts';

export interface WireAgentSettings {
  readonly name: string;
  readonly url: string;
  readonly apiKey?: string | undefined;
  /** `model` of the session for this sample: a character of the server, or a model name. */
  modelFor(sample: DialogueSample): string;
  instructionsFor(sample: DialogueSample): string;
  readonly voice?: string | undefined;
  /** Sends the language of the user's speech to the server, as our own clients do. */
  readonly tellsLanguage: boolean;
  /** True sends the user's text; false streams the user's recordings. */
  readonly userText: boolean;
  /** Replaces each of the agent's replies in the history with the reference answer. */
  readonly teacherForced: boolean;
  /** Keeps replies of fallbacks for the system's LLM; otherwise they fail the dialogue. */
  readonly allowFallback: boolean;
  /** Streaming speed of the recordings; 1 is real time. */
  readonly speed: number;
}

/** A system that speaks OpenAI Realtime (GA), this project's server or another, used as an ordinary client. */
export function wireAgent(settings: WireAgentSettings, endpoint: Endpoint, clock: EvalClock): DialogueAgent {
  return {
    name: settings.name,
    answer: (sample, context) =>
      endpoint.call(({ signal }) => converse(sample, { ...context, signal }, settings, clock), context),
  };
}

async function converse(
  sample: DialogueSample,
  context: EvalContext,
  settings: WireAgentSettings,
  clock: EvalClock,
): Promise<DialogueOutput> {
  const { signal } = context;
  const { url, apiKey, voice, userText, teacherForced, allowFallback, speed } = settings;
  const recordings = userText
    ? []
    : await Promise.all(sample.input.turns.map((turn, at) => recordingOf(sample, at, turn.speech, signal)));
  await using conversation = await WireConversation.open(
    { url, model: settings.modelFor(sample), apiKey, signal, clock },
    {
      instructions: settings.instructionsFor(sample),
      voice,
      language: settings.tellsLanguage ? sample.input.language : undefined,
    },
  );
  const answers: Answer[] = [];
  for (const [at, turn] of sample.input.turns.entries()) {
    const recording = recordings[at];
    const reply =
      recording === undefined ? await conversation.write(turn.text) : await conversation.speak(recording, speed);
    if (reply.fallback !== null && !allowFallback) throw new AgentFallback(`${sample.id}, turn ${at}`, reply.fallback);
    answers.push(await answerOf(reply, context));
    if (teacherForced) conversation.replace(reply, sample.target.turns[at]?.text ?? '');
  }
  return { system: conversation.about, answers };
}

async function recordingOf(
  sample: DialogueSample,
  at: number,
  file: string | null,
  signal: AbortSignal,
): Promise<Buffer> {
  if (file === null) {
    throw new EvalError(
      'data',
      `${sample.id}: turn ${at} has no recording of the user. Use --user-text to send its text.`,
    );
  }
  return pcm16FromFloats((await readAudioFile(file, { sampleRate: wireSampleRate, signal })).samples);
}

async function answerOf(reply: WireReply, context: EvalContext): Promise<Answer> {
  const { samples, sampleRate, text, heard, firstAudioMs, latency, mind, fallback } = reply;
  const audio = samples.length === 0 ? null : await context.audio.keep(await wavBytes(samples, sampleRate));
  return { text, heard, audio, seconds: samples.length / sampleRate, firstAudioMs, latency, mind, fallback };
}
