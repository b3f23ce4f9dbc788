import { wireSampleRate } from '../../server/protocol/limits.ts';
import { concatSamples, pcm16FromFloats } from '../../voices/audio.ts';
import { resample } from '../../voices/dsp/resampler.ts';
import { wavBytes } from '../../voices/dsp/wav.ts';
import type { CallOptions } from '../../voices/engine.ts';
import { openEmbeddedVoices } from '../../voices/synthesizers/embedded.ts';
import { AgentFallback, type Endpoint, type EvalClock } from '../limits.ts';
import type { EvalContext } from '../task.ts';
import type { TextAgent, TextAnswer, TextScene } from './text-agent.ts';
import { WireConversation, type WireReply } from './wire-conversation.ts';

/** Voice that speaks the user's texts, and what hears the replies. */
export interface SpeechPath {
  speak(text: string, language: 'en' | 'zh', options: CallOptions): Promise<Buffer>;
  /** Transcript of a reply's sound; absent if the system's own text counts. */
  readonly hear?: (
    sound: { readonly samples: Float32Array; readonly sampleRate: number },
    language: 'en' | 'zh',
    options: CallOptions,
  ) => Promise<string>;
  /** Speed at which speech is sent; 1 is real time. */
  readonly speed: number;
}

export interface WireTextSettings {
  readonly name: string;
  readonly url: string;
  readonly apiKey?: string | undefined;
  readonly voice?: string | undefined;
  /** `model` of a session: a character of the server, or a model. */
  modelFor(scene: TextScene): string;
  readonly allowFallback: boolean;
  /** The live speech path; without it, both sides write. */
  readonly speech?: SpeechPath | undefined;
}

/** A system that speaks OpenAI Realtime (GA), asked and answering in text or in speech. */
export function wireTextAgent(settings: WireTextSettings, endpoint: Endpoint, clock: EvalClock): TextAgent {
  const { speech, voice } = settings;
  return {
    name: settings.name,
    attempt: (work, context) => endpoint.call(({ signal }) => work({ ...context, signal }), context),
    async open(scene, context) {
      const { url, apiKey } = settings;
      const { signal } = context;
      const conversation = await WireConversation.open(
        { url, model: settings.modelFor(scene), apiKey, signal, clock },
        {
          instructions: scene.system,
          voice,
          language: scene.language,
          modality: speech === undefined ? 'text' : 'audio',
        },
      );
      return {
        about: conversation.about,
        remember: (role, text) => conversation.remember(role, text),
        async say(text) {
          context.throwIfStopped();
          const reply =
            speech === undefined
              ? await conversation.write(text)
              : await conversation.speak(await speech.speak(text, scene.language, { signal }), speech.speed);
          if (reply.fallback !== null && !settings.allowFallback) throw new AgentFallback(scene.sample, reply.fallback);
          return answerOf(reply, scene, { speech, context });
        },
        [Symbol.asyncDispose]: () => conversation[Symbol.asyncDispose](),
      };
    },
  };
}

async function answerOf(
  { samples, sampleRate, text, heard, firstAudioMs, fallback }: WireReply,
  { language }: TextScene,
  { speech, context }: { readonly speech: SpeechPath | undefined; readonly context: EvalContext },
): Promise<TextAnswer> {
  const hasSound = samples.length > 0;
  const audio = hasSound ? await context.audio.keep(await wavBytes(samples, sampleRate)) : null;
  const told = { heard, audio, firstAudioMs, fallback };
  if (speech?.hear === undefined || !hasSound) return { text, ...told };
  return { text: await speech.hear({ samples, sampleRate }, language, context), said: text, ...told };
}

/** Opens the embedded voices to speak the user's texts; `id` names a voice of Flite, or of eSpeak NG for Chinese. */
export function openUserVoice(id: string | undefined): Pick<SpeechPath, 'speak'> & { close(): Promise<void> } {
  const voices = openEmbeddedVoices({ sampleRate: wireSampleRate });
  return {
    async speak(text, language, { signal }) {
      const { synthesizer, voice } = voices.forCharacter(
        id === undefined ? { gender: 'female' } : { flite: { id }, espeak: { id } },
      );
      const phrases = (async function* () {
        yield { text };
      })();
      const chunks = await Array.fromAsync(synthesizer.speak(phrases, { signal, voice, language }));
      const samples = concatSamples(chunks.map(({ frame }) => frame.samples));
      return pcm16FromFloats(resample(samples, synthesizer.sampleRate, wireSampleRate));
    },
    close: () => voices.close(),
  };
}
