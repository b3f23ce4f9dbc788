import { z } from 'zod';
import type { Prompt } from '../runner/prompts.ts';
import { Dropped, type DataRecord, type Stage } from '../runner/stage.ts';
import { castText, roleNamed, type Cast } from './cast.ts';
import type { CastClip } from './clips.ts';

/** The two stages that each ask a model; `--model identify-1=…,identify-2=…` gives them different ones. */
export const identifiers = ['identify-1', 'identify-2'] as const;

/** A voice in the recordings, with all its clips. */
export interface HeardSpeaker {
  /** From 1; 1 speaks longest. */
  readonly number: number;
  readonly seconds: number;
  readonly clips: readonly CastClip[];
}

/** One model's answer: a role by speaker, null if it cannot decide. */
export type Vote = Readonly<Record<string, string | null>>;

/** All speakers, and what models said of them. */
export interface CastRecord extends DataRecord {
  readonly speakers: readonly HeardSpeaker[];
  readonly votes: readonly Vote[];
}

const answer = z.object({
  speakers: z.record(
    z.string().regex(/^\d+$/),
    z.object({ character: z.string().nullable(), quotes: z.array(z.string()).default([]) }),
  ),
});
const mostLines = 400;

/** Asks a model who the speakers are. An answer counts if its quotes occur in the lines. */
export function identifyStage(
  name: (typeof identifiers)[number],
  prompt: Prompt,
  cast: () => Promise<Cast>,
): Stage<CastRecord, CastRecord> {
  return {
    name,
    estimate: { calls: 1, inputTokens: 6_000, outputTokens: 600, records: 1 },
    async run([record], context) {
      if (record === undefined) return [];
      const known = await cast();
      const lines = linesOf(record.speakers);
      const text = lines.map(({ line }) => line).join('\n');
      const plainText = plain(text);
      let vote: Vote = {};
      try {
        const values = { work: known.work, cast: castText(known), lines: text };
        const { speakers } = await context.askJson({ prompt, values, schema: answer });
        vote = Object.fromEntries(
          Object.entries(speakers).flatMap(([number, { character, quotes }]): [string, string | null][] => {
            if (character === null) return [[number, null]];
            const role = roleNamed(character, known);
            if (role === undefined) context.count('opinion for nobody of the cast');
            const isQuoted = quotes.length > 0 && quotes.every((quote) => plainText.includes(plain(quote)));
            if (!isQuoted) context.count('opinion without a quote from the lines');
            return role === undefined || !isQuoted ? [] : [[number, role.name]];
          }),
        );
      } catch (fault) {
        if (!(fault instanceof Dropped)) throw fault;
        context.count(`no opinion: ${fault.reason}`);
      }
      return [{ ...record, votes: [...record.votes, vote] }];
    },
  };
}

/** Lines of all speakers in the order of the recordings: `[speaker 2, 1:05] text`. */
export function linesOf(speakers: readonly HeardSpeaker[]): readonly { readonly line: string }[] {
  return speakers
    .flatMap(({ number, clips }) => clips.map((each) => ({ number, ...each })))
    .toSorted((one, other) =>
      one.recording === other.recording
        ? one.clip.startMs - other.clip.startMs
        : one.recording < other.recording
          ? -1
          : 1,
    )
    .filter(({ clip, subtitle }) => subtitle !== '' || clip.transcript !== '')
    .slice(0, mostLines)
    .map(({ number, clip, subtitle }) => {
      const seconds = Math.floor(clip.startMs / 1000);
      const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
      return { line: `[speaker ${number}, ${time}] ${subtitle || clip.transcript}` };
    });
}

/** Letters and digits in lower case: quotes need not have the same marks. */
function plain(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '');
}
