import type { SpeakerOrder, SpeakerReport } from '../../server/client/audio/speaker-worklet.js';

export const blockSamples = 128;

interface Processor {
  readonly port: Port;
  process(inputs: Float32Array[][], outputs: Float32Array[][]): boolean;
}

class Port {
  onmessage: ((message: { readonly data: SpeakerOrder }) => void) | undefined;
  reports: SpeakerReport[] = [];
  postMessage(report: SpeakerReport): void {
    this.reports.push(report);
  }
}

/** The real audio worklet of the loudspeaker, block by block, as a browser's audio thread runs it. */
export interface WorkletSpeaker {
  order(order: SpeakerOrder): void;
  /** Renders the next block, and returns what the worklet reports after it. */
  render(): readonly SpeakerReport[];
}

/** Runs the worklet outside an audio thread. */
export async function openWorkletSpeaker(): Promise<WorkletSpeaker> {
  const scope = globalThis as unknown as Record<string, unknown>;
  scope['AudioWorkletProcessor'] ??= class {
    readonly port = new Port();
  };
  scope['registerProcessor'] ??= (name: string, processor: new () => Processor): void => void (scope[name] = processor);
  await import('../../server/client/audio/speaker-worklet.js');
  const processor = new (scope['dramatis-speaker'] as new () => Processor)();
  const { port } = processor;
  scope['currentFrame'] = 0;
  return {
    order: (data) => port.onmessage?.({ data }),
    render() {
      port.reports = [];
      processor.process([], [[new Float32Array(blockSamples)]]);
      scope['currentFrame'] = Number(scope['currentFrame']) + blockSamples;
      return port.reports;
    },
  };
}

/**
 * Plays a reply of `seconds` with actions at the given samples in the real worklet. Returns the delay of each action after
 * its sample, in milliseconds of the audio clock, and the number of reports.
 */
export async function actionDelaysMs(
  samples: readonly number[],
  seconds: number,
): Promise<{ readonly delaysMs: readonly number[]; readonly reports: number }> {
  const { Moments } = await import('../../server/client/moments.js');
  const speaker = await openWorkletSpeaker();
  const delaysMs: number[] = [];
  let rendered = 0;
  const moments = new Moments((event) => delaysMs.push((rendered - event.samples) / (rate / 1000)));
  for (const at of samples)
    moments.take({ type: 'x_dramatis.action', response_id: 'r', item_id: 'i', action_id: `a${at}`, samples: at });
  speaker.order({ type: 'play', itemId: 'i', samples: new Float32Array(seconds * rate).fill(0.1), sentLate: 0 });
  speaker.order({ type: 'complete', itemId: 'i' });
  let reports = 0;
  while (rendered < seconds * rate) {
    const told = speaker.render();
    rendered += blockSamples;
    for (const report of told) {
      if (report.type === 'progress') {
        reports += 1;
        const playedMs = report.played / (rate / 1000);
        moments.take({ type: 'playback.progress', responseId: 'r', itemId: 'i', playedMs, level: report.level });
      }
      if (report.type === 'ended') moments.take({ type: 'playback.ended', responseId: 'r', itemId: 'i' });
    }
  }
  return { delaysMs, reports };
}

const rate = 24_000;
