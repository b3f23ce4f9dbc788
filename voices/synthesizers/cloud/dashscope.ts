import { z } from 'zod';
import type { Adapter } from '../../calls/context.ts';
import { checkDashscope, dashscopeUrl, openTasks, type DashscopeTasks } from '../../calls/dashscope/dashscope-task.ts';
import { pcmBlocksOfMessages, type PcmBlock } from '../../calls/pcm-stream.ts';
import type { CallOptions } from '../../engine.ts';
import { languageTags } from '../../text/language-tags.ts';
import type { SpeechSynthesizer } from '../../synthesizer.ts';
import { openKnownVoices } from '../../synthesis/known-voices.ts';
import { speakByPhrase, spokenSampleRate, type RenderOptions } from '../../synthesis/by-phrase.ts';

const settings = z.strictObject({
  baseUrl: dashscopeUrl,
  workspace: z.string().min(1).optional(),
  model: z.string().min(1).default('cosyvoice-v2'),
  /** Voice used if the requested one is none of the model's: one of the list, or one that was cloned for this model. */
  defaultVoice: z.string().min(1).default('longxiaochun_v2'),
  /** BCP 47 primary tags of the languages that the voices speak. */
  languages: languageTags.default(['zh', 'en']),
  /** Additional task parameters, such as `{"instruction": "..."}`. */
  extra: z.record(z.string(), z.unknown()).default({}),
});

export type DashscopeSynthesizerSettings = z.infer<typeof settings>;

/** CosyVoice v2 and related models on Alibaba Cloud Model Studio. */
export const adapter: Adapter<SpeechSynthesizer, DashscopeSynthesizerSettings> = {
  settings,
  callPolicy: () => ({ concurrency: 8 }),
  open(chosen, context) {
    const tasks = openTasks(context, chosen);
    // An error with a status is from the handshake, and not about the voice.
    const voices = openKnownVoices(chosen.defaultVoice, (fault) => fault.status === undefined);
    const renderer = {
      languages: chosen.languages,
      // The limit is 20,000 a message, in which a Chinese character counts as two.
      maxCharacters: 2_000,
      comesWhole: false,
      render: (text: string, options: RenderOptions) =>
        voices.speak(options.voice, (voice) => say(text, voice, { chosen, tasks }, options)),
    };
    return {
      ...speakByPhrase(renderer, context),
      check: (options: CallOptions) => checkDashscope(context, chosen, options),
      close: async () => tasks.close(),
    };
  },
};

interface Parts {
  readonly chosen: DashscopeSynthesizerSettings;
  readonly tasks: DashscopeTasks;
}

async function* say(
  text: string,
  voice: string,
  { chosen, tasks }: Parts,
  { signal, speed }: RenderOptions,
): AsyncGenerator<PcmBlock> {
  const parameters = {
    text_type: 'PlainText',
    voice,
    format: 'pcm',
    sample_rate: spokenSampleRate,
    rate: Math.min(2, Math.max(0.5, speed)),
    ...chosen.extra,
  };
  const order = { task: 'tts', function: 'SpeechSynthesizer', model: chosen.model, parameters } as const;
  const task = await tasks.open(order, { signal });
  async function* sound(): AsyncGenerator<Buffer> {
    for await (const answer of task.answers) if (Buffer.isBuffer(answer)) yield answer;
  }
  try {
    task.say(text);
    task.finish();
    yield* pcmBlocksOfMessages(sound(), { sampleRate: spokenSampleRate });
  } finally {
    task.close();
  }
}
