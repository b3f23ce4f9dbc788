import { createVadHysteresis } from '../dsp/vad-hysteresis.ts';

/** A segment of a recording, in milliseconds. */
export interface Stretch {
  readonly startMs: number;
  readonly endMs: number;
}

/** Length limits of clips; SpeechRole's are 3 to 10 seconds. */
export interface CutPolicy {
  readonly leastMs: number;
  readonly mostMs: number;
}

export const usualCut: CutPolicy = { leastMs: 3_000, mostMs: 10_000 };

/** Audio kept before and after the speech, if there is any. */
const paddingMs = 150;
/** Pauses longer than this end a clip: they separate sentences or speakers. */
const pauseMs = 700;

/** Power and speech probability of a recording, one value per window of `windowMs`. */
export interface Contour {
  readonly windowMs: number;
  readonly probabilities: readonly number[];
  /** Mean squares. */
  readonly powers: readonly number[];
}

/** Cuts speech at long pauses; divides long segments equally at quiet places; drops clips that are too short. */
export function cutClips(contour: Contour, policy: CutPolicy = usualCut): Stretch[] {
  const wholeMs = contour.probabilities.length * contour.windowMs;
  const room = policy.mostMs - 2 * paddingMs;
  return joinedSpeech(contour)
    .flatMap((stretch) => divide(stretch, room, contour))
    .map(({ startMs, endMs }) => ({
      startMs: Math.max(0, startMs - paddingMs),
      endMs: Math.min(wholeMs, endMs + paddingMs),
    }))
    .filter(({ startMs, endMs }) => endMs - startMs >= policy.leastMs);
}

function joinedSpeech({ probabilities, windowMs }: Contour): Stretch[] {
  const edges = createVadHysteresis({ minSpeechMs: 96, minSilenceMs: 96, windowMs });
  const joined: Stretch[] = [];
  let startMs: number | undefined;
  const add = (stretch: Stretch): void => {
    const last = joined.at(-1);
    if (last !== undefined && stretch.startMs - last.endMs <= pauseMs) {
      joined[joined.length - 1] = { startMs: last.startMs, endMs: stretch.endMs };
    } else joined.push(stretch);
  };
  for (const probability of probabilities) {
    const edge = edges.push(probability);
    if (edge?.type === 'speech-start') startMs = edge.atMs;
    if (edge?.type !== 'speech-end' || startMs === undefined) continue;
    add({ startMs, endMs: edge.atMs });
    startMs = undefined;
  }
  if (startMs !== undefined) add({ startMs, endMs: probabilities.length * windowMs });
  return joined;
}

/** Splits a segment into parts of at most `mostMs`, as equal as quiet places allow. */
function divide({ startMs, endMs }: Stretch, mostMs: number, contour: Contour): Stretch[] {
  const lengthMs = endMs - startMs;
  if (lengthMs <= mostMs) return [{ startMs, endMs }];
  const parts = Math.ceil(lengthMs / (0.85 * mostMs));
  const stretches: Stretch[] = [];
  let fromMs = startMs;
  for (let part = 1; part < parts; part += 1) {
    const left = parts - part + 1;
    const wantedMs = fromMs + (endMs - fromMs) / left;
    // The range in which the cut can move without either side becoming too long.
    const firstMs = Math.max(wantedMs - (wantedMs - fromMs) / 3, endMs - (left - 1) * mostMs);
    const lastMs = Math.min(wantedMs + (wantedMs - fromMs) / 3, fromMs + mostMs);
    const atMs = quietestPlace(firstMs, lastMs, contour);
    stretches.push({ startMs: fromMs, endMs: atMs });
    fromMs = atMs;
  }
  return [...stretches, { startMs: fromMs, endMs }];
}

/** Middle of the quietest run of three windows. */
function quietestPlace(firstMs: number, lastMs: number, { powers, windowMs }: Contour): number {
  const first = Math.ceil(firstMs / windowMs);
  const last = Math.max(first, Math.floor(lastMs / windowMs) - 1);
  let [best, least] = [first, Number.POSITIVE_INFINITY];
  for (let index = first; index <= last; index += 1) {
    const power = (powers[index - 1] ?? 0) + (powers[index] ?? 0) + (powers[index + 1] ?? 0);
    if (power < least) [best, least] = [index, power];
  }
  return (best + 0.5) * windowMs;
}
