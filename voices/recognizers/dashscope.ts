import { z } from 'zod';
import type { Meter } from '../calls/calls.ts';
import type { Adapter } from '../calls/context.ts';
import { checkDashscope, dashscopeUrl, openTasks, type DashscopeTasks } from '../calls/dashscope/dashscope-task.ts';
import type { CallOptions } from '../engine.ts';
import { languageTags } from '../text/language-tags.ts';
import type { SpeechRecognizer } from '../recognizer.ts';
import { recognizeByStream } from '../recognition/by-stream.ts';
import { joinTexts } from '../recognition/decode-ahead.ts';
import type { LiveAudio } from '../recognition/live-audio.ts';

const settings = z.strictObject({
  baseUrl: dashscopeUrl,
  workspace: z.string().min(1).optional(),
  model: z.string().min(1).default('paraformer-realtime-v2'),
  /** Languages that the model understands; one is sent as a hint if the session knows what is spoken. */
  languages: languageTags.default(['zh', 'en', 'ja', 'yue', 'ko', 'de', 'fr', 'ru']),
  /** Silence that ends a sentence, in milliseconds. It does not end the utterance; the session does. */
  sentencePauseMs: z.number().int().min(200).max(6_000).default(500),
  /** Additional task parameters, such as `{"vocabulary_id": "vocab-1"}`. */
  extra: z.record(z.string(), z.unknown()).default({}),
});

export type DashscopeRecognizerSettings = z.infer<typeof settings>;

/** Paraformer realtime v2 and related models on Alibaba Cloud Model Studio. */
export const adapter: Adapter<SpeechRecognizer, DashscopeRecognizerSettings> = {
  settings,
  // An utterance lasts as long as the user speaks.
  callPolicy: () => ({ concurrency: 16, timeouts: { wholeMs: 3_600_000 } }),
  open(chosen, context) {
    const tasks = openTasks(context, chosen);
    return {
      ...recognizeByStream(
        {
          languages: chosen.languages,
          blockMs: 100,
          transcribe: (sound, options) => transcribe(sound, chosen, tasks, options),
        },
        context,
      ),
      check: (options: CallOptions) => checkDashscope(context, chosen, options),
      close: async () => tasks.close(),
    };
  },
};

async function* transcribe(
  sound: LiveAudio,
  chosen: DashscopeRecognizerSettings,
  tasks: DashscopeTasks,
  options: CallOptions & { readonly language?: string | undefined; readonly meter: Meter },
): AsyncGenerator<string> {
  const language = options.language?.toLowerCase().split('-')[0];
  const parameters = {
    format: 'pcm',
    sample_rate: 16_000,
    max_sentence_silence: chosen.sentencePauseMs,
    ...(language !== undefined && chosen.languages.includes(language) ? { language_hints: [language] } : {}),
    ...chosen.extra,
  };
  const task = await tasks.open({ task: 'asr', function: 'recognition', model: chosen.model, parameters }, options);
  const unfollow = sound.follow({ block: (bytes) => task.send(bytes), end: () => task.finish() });
  const ended: string[] = [];
  try {
    for await (const answer of task.answers) {
      const sentence = Buffer.isBuffer(answer) ? undefined : sentenceIn(answer);
      if (sentence === undefined) continue;
      if (sentence.hasEnded) ended.push(sentence.text);
      yield joinTexts(sentence.hasEnded ? ended : [...ended, sentence.text]);
    }
  } finally {
    unfollow();
    task.close();
  }
}

const sentenceSchema = z.object({
  sentence: z.object({
    /** Whole sentence so far. */
    text: z.string(),
    end_time: z.number().nullish(),
    sentence_end: z.boolean().nullish(),
    heartbeat: z.boolean().nullish(),
  }),
});

function sentenceIn(answer: unknown): { readonly text: string; readonly hasEnded: boolean } | undefined {
  const parsed = sentenceSchema.safeParse(answer);
  if (!parsed.success || parsed.data.sentence.heartbeat === true) return undefined;
  const { text, end_time: endTime, sentence_end: sentenceEnd } = parsed.data.sentence;
  // Older servers mark the end of a sentence only by its end time.
  return { text, hasEnded: sentenceEnd ?? typeof endTime === 'number' };
}
