import type { AddResult } from '../../../voices/library/add-recordings.ts';
import { table } from '../../terminal/table.ts';

const mostRows = 8;

/** Speakers found in the recordings, as JSON; empty without a speaker encoder. */
export function shownSpeakers({ heard }: AddResult): Record<string, unknown> {
  if (heard === undefined) return {};
  const speakers = heard.speakers.map(({ seconds, clips }, index) => {
    return { speaker: index + 1, seconds: Math.round(seconds), clips: clips.length, says: saysOf(clips) };
  });
  return { speakers, mixed: heard.mixed.length };
}

/** Prints the speakers found, their durations, and which one the voice uses. */
export function printSpeakers({ heard, record }: AddResult): void {
  if (heard === undefined) return;
  const { speakers } = heard;
  const chosen = record.reference.choice.speaker?.number;
  if (speakers.length === 1) console.log('One speaker is heard.');
  else {
    console.log(`${speakers.length} speakers are heard${chosen === undefined ? '; all clips count as one’s' : ''}:\n`);
    const rows = speakers.slice(0, mostRows).map(({ seconds, clips }, index) => {
      const mark = index + 1 === chosen ? '→' : '';
      return [mark, String(index + 1), minutesOf(seconds), String(clips.length), saysOf(clips)];
    });
    console.log(table(['', 'speaker', 'minutes', 'clips', 'says'], rows));
    const rest = speakers.length - mostRows;
    if (rest > 0) console.log(`… and ${rest} more, each with less.`);
    console.log('\n`--speaker N` makes the voice that of another; `--speaker all` where they are one person.');
  }
}

function saysOf(clips: readonly { readonly transcript: string }[]): string {
  return clips.find(({ transcript }) => transcript !== '')?.transcript ?? '';
}

function minutesOf(seconds: number): string {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
