import path from 'node:path';
import { writeFileAtomic } from '../../../voices/runtime/files.ts';
import { resample } from '../../../voices/dsp/resampler.ts';
import { readWav, wavBytes } from '../../../voices/dsp/wav.ts';
import { fitClips } from '../../../voices/library/choose-clip.ts';
import { openVoiceStore } from '../../../voices/library/store.ts';
import { centralities } from '../../../voices/speaker-encoder.ts';
import { languageOf } from '../runner/words.ts';
import type { DataRecord, Stage } from '../runner/stage.ts';
import { roleNamed, type Cast } from './cast.ts';
import type { CastRecord, HeardSpeaker, Vote } from './identify.ts';
import { clipsId, type CastClip } from './clips.ts';

/** Sample rate of the released reference clips. */
const referenceRate = 16_000;
const shownClips = 3;

/** A role with its speakers, or a speaker whose role is open. */
export interface SettledRecord extends DataRecord {
  readonly key: string;
  readonly role: string | null;
  readonly speakers: readonly HeardSpeaker[];
  /** Answer of each model about an open speaker. */
  readonly opinions: readonly (string | null)[];
}

/** Result for a role: its clips by rank and the reference, or a question to people. */
export type RoleVoice = DataRecord &
  (
    | {
        readonly kind: 'role';
        readonly key: string;
        readonly clips: readonly RankedClip[];
        readonly reference: { readonly text: string } | null;
      }
    | { readonly kind: 'open'; readonly question: OpenSpeaker }
  );

/** A row of `clips.jsonl`. */
export interface RankedClip {
  readonly role: string;
  readonly file: string;
  readonly recording: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly text: string;
  readonly subtitle: string;
  readonly speaker: number;
  readonly language: 'en' | 'zh';
  readonly dnsmos: number | null;
  /** 1 is the reference; null for a clip without transcript, or of poor quality. */
  readonly rank: number | null;
  /** Mean cosine to the other clips of the role. */
  readonly typical: number | null;
}

/** An item of `decide.json`: settled by `--decided "ROLE=SPEAKER"`. */
export interface OpenSpeaker {
  readonly speaker: number;
  readonly seconds: number;
  readonly opinions: readonly (string | null)[];
  readonly clips: readonly { readonly file: string; readonly text: string }[];
}

/** Role of a speaker: as people decided, else if all models agree; undefined if it is open. */
export function settledRole(
  number: number,
  votes: readonly Vote[],
  decided: ReadonlyMap<string, number>,
): string | undefined {
  const [byPeople] = [...decided].find(([, speaker]) => speaker === number) ?? [];
  if (byPeople !== undefined) return byPeople;
  const opinions = votes.map((vote) => vote[String(number)]);
  const [first] = opinions;
  const isAgreed = typeof first === 'string' && opinions.length > 1 && opinions.every((each) => each === first);
  // A decision of people excludes other roles.
  return isAgreed && !decided.has(first) ? first : undefined;
}

/** Joins the speakers of each role; those on whom the models do not agree stay open. */
export function agreeStage(
  cast: () => Promise<Cast>,
  decided: ReadonlyMap<string, number>,
): Stage<CastRecord, SettledRecord> {
  return {
    name: 'agree',
    async run([record], context) {
      if (record === undefined) return [];
      const known = await cast();
      const byRole = new Map<string, HeardSpeaker[]>();
      const open: SettledRecord[] = [];
      const { provenance } = record;
      for (const speaker of record.speakers) {
        const role = settledRole(speaker.number, record.votes, decided);
        if (role !== undefined) {
          byRole.set(role, [...(byRole.get(role) ?? []), speaker]);
          continue;
        }
        const opinions = record.votes.map((vote) => vote[String(speaker.number)] ?? null);
        const id = `speaker ${speaker.number}`;
        if (opinions.some((each) => each !== null))
          open.push({ id, key: id, role: null, speakers: [speaker], opinions, provenance });
        else context.drop('speaker that no model identified');
      }
      context.count('role that both models agree on, or people decided', byRole.size);
      if (open.length > 0) context.count('speaker to be decided by people', open.length);
      const settled = [...byRole].map(([role, speakers]) => {
        const key = roleNamed(role, known)?.key ?? role;
        return { id: role, key, role, speakers, opinions: [], provenance };
      });
      return [...settled, ...open];
    },
  };
}

/** Ranks the clips of each role by their mean cosine to the others, and writes the first as its reference. */
export function chooseStage(leastQuality: number): Stage<SettledRecord, RoleVoice> {
  return {
    name: 'choose',
    async run([settled], context) {
      if (settled === undefined) return [];
      const { id, role, key, speakers, opinions } = settled;
      const [first] = speakers;
      if (role === null) {
        const clips = (first?.clips ?? [])
          .toSorted((one, other) => lengthOf(other) - lengthOf(one))
          .slice(0, shownClips)
          .map(({ clip, subtitle }) => ({ file: fileOf(clip), text: subtitle || clip.transcript }));
        const { number = 0, seconds = 0 } = first ?? {};
        return [{ id, kind: 'open', question: { speaker: number, seconds: Math.round(seconds), opinions, clips } }];
      }
      const all = speakers.flatMap(({ number, clips }) => clips.map((each) => ({ ...each, speaker: number })));
      const { fit, unfit } = fitClips(
        all.map(({ clip }) => clip),
        leastQuality,
      );
      if (unfit.poor > 0) context.drop('clip of poor quality', unfit.poor);
      if (unfit.withoutTranscript > 0) context.drop('clip without a transcript', unfit.withoutTranscript);
      const scores = centralities(fit.map(({ measured }) => measured.embedding?.values ?? []));
      const ranked = fit
        .map((clip, at) => ({ clip, score: scores[at] ?? 0 }))
        .toSorted((one, other) => other.score - one.score);
      const rows = all.map(({ clip, recording, subtitle, speaker }): RankedClip => {
        const rank = ranked.findIndex((each) => each.clip === clip);
        return {
          role,
          file: fileOf(clip),
          recording,
          startMs: clip.startMs,
          endMs: clip.endMs,
          text: clip.transcript,
          subtitle,
          speaker,
          language: languageOf(clip.transcript),
          dnsmos: clip.measured.quality?.overall ?? null,
          rank: rank < 0 ? null : rank + 1,
          typical: rank < 0 ? null : Math.round((ranked[rank]?.score ?? 0) * 1e4) / 1e4,
        };
      });
      const best = ranked[0]?.clip;
      if (best === undefined) context.count('role without a usable clip');
      else {
        const { samples, sampleRate } = await readWav(openVoiceStore(context.folder).place(clipsId, best.file));
        const wav = await wavBytes(resample(samples, sampleRate, referenceRate), referenceRate);
        await writeFileAtomic(path.join(context.folder, 'role_voices', `${key}.wav`), wav);
      }
      const clips = rows.toSorted((one, other) => (one.rank ?? Infinity) - (other.rank ?? Infinity));
      return [{ id, kind: 'role', key, clips, reference: best === undefined ? null : { text: best.transcript } }];
    },
  };
}

function lengthOf({ clip }: CastClip): number {
  return clip.endMs - clip.startMs;
}

/** Path of a clip, relative to the folder of the build. */
function fileOf({ file }: CastClip['clip']): string {
  return path.posix.join('voices', clipsId, file);
}
