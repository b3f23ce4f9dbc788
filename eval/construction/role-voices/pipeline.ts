import path from 'node:path';
import { groupBySpeaker } from '../../../voices/library/group-by-speaker.ts';
import { recordingsAt } from '../../../voices/library/recordings-at.ts';
import { EvalError } from '../../eval-error.ts';
import type { Prompt } from '../runner/prompts.ts';
import type { OutputRow, Pipeline, Stage } from '../runner/stage.ts';
import type { Separator } from './separate.ts';
import { clipsStage, type ClipsRecord, type ListeningStudio } from './clips.ts';
import { readCast, type Cast } from './cast.ts';
import { agreeStage, chooseStage, type RoleVoice } from './choose.ts';
import { identifyStage, identifiers, type CastRecord } from './identify.ts';

export interface RoleVoicesOptions {
  readonly input: readonly string[];
  /** File with the cast. */
  readonly cast: string;
  readonly studio: ListeningStudio;
  readonly promptOf: (name: string) => Prompt;
  /** Lowest DNSMOS of a reference clip: 3 in the paper. */
  readonly leastQuality: number;
  /** Speakers by role, as people have decided. */
  readonly decided: ReadonlyMap<string, number>;
  /** Takes music and noise off before the recording is cut. */
  readonly separator?: Separator | undefined;
}

/** SpeechRole's role voices: recordings, clips, speakers, who they are by two models, and the clip that is most typical. */
export function roleVoicesPipeline(options: RoleVoicesOptions): Pipeline {
  const { input, studio, promptOf, leastQuality, decided } = options;
  if (studio.encoder === undefined)
    throw new EvalError(
      'usage',
      'Distinguishing speakers needs a speaker encoder. Set DRAMATIS_SPEAKER_ENCODER, or run `dramatis models pull campplus-zh-en` and add --auto.',
    );
  let known: Promise<Cast> | undefined;
  const cast = (): Promise<Cast> => (known ??= readCast(options.cast));
  return {
    name: 'role-voices',
    command: 'data voices',
    about: 'Reference clips of roles from recordings of films, shows and plays, after SpeechRole.',
    async *records() {
      await cast();
      for (const file of await recordingsAt(input))
        yield {
          id: path.basename(file),
          path: file,
          provenance: {
            stage: 'input',
            sources: [{ file: path.basename(file), from: 0, to: 0 }],
            models: [],
            promptHashes: [],
          },
        };
    },
    stages: [
      clipsStage(studio, options.separator),
      speakersStage(),
      ...identifiers.map((name) => identifyStage(name, promptOf('role-voices/identify'), cast)),
      agreeStage(cast, decided),
      chooseStage(leastQuality),
    ],
    rows: (record) => rowsOf(record as RoleVoice),
  };
}

/** Groups the clips of all recordings by speaker, the one who speaks longest first. */
function speakersStage(): Stage<ClipsRecord, CastRecord> {
  return {
    name: 'speakers',
    groupBy: () => 'cast',
    async run(recordings, context) {
      const places = new Map(recordings.flatMap(({ clips }) => clips).map((each) => [each.clip, each] as const));
      const { speakers, mixed } = groupBySpeaker([...places.keys()]);
      if (mixed.length > 0) context.drop('clip with several speakers', mixed.length);
      context.count('speaker', speakers.length);
      return [
        {
          id: 'cast',
          speakers: speakers.map(({ clips, seconds }, at) => ({
            number: at + 1,
            seconds,
            clips: clips.flatMap((clip) => places.get(clip) ?? []),
          })),
          votes: [],
        },
      ];
    },
  };
}

function rowsOf(voice: RoleVoice): readonly OutputRow[] {
  if (voice.kind === 'open') return [{ file: 'decide.json', value: voice.question, isItem: true }];
  return [
    ...voice.clips.map((value) => ({ file: 'clips.jsonl', value })),
    ...(voice.reference === null
      ? []
      : [{ file: 'role_voices/audios_text.json', value: voice.reference.text, member: voice.key }]),
  ];
}
