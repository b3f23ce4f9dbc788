import { encodeFrame } from '../../../server/client/connection/binary-frame.js';
import { toBase64 } from '../../../server/client/audio/pcm.js';

/** What happens to a client, one at a time. */
export type Input =
  | { readonly do: 'open' }
  | { readonly do: 'interrupt' | 'close' }
  | { readonly do: 'text'; readonly frame: Readonly<Record<string, unknown>> }
  | { readonly do: 'binary'; readonly frame: string }
  /** The loudspeaker takes this many samples at 24 kHz, or as many as there are. */
  | { readonly do: 'render'; readonly samples: number }
  /** From now on the engine's own buffers hold this many samples: what is rendered is heard later. */
  | { readonly do: 'latency'; readonly samples: number }
  | { readonly do: 'say'; readonly text: string; readonly player?: number }
  | { readonly do: 'audio'; readonly pcm16: string; readonly player?: number }
  | { readonly do: 'send'; readonly event: Readonly<Record<string, unknown>> & { readonly type: string } }
  | { readonly do: 'lost'; readonly code: number }
  | { readonly do: 'wait'; readonly ms: number }
  /** The weights of the mouth at this sample of the item that is heard. */
  | { readonly do: 'mouth'; readonly sample: number };

/** Writes what a server sends, with its sequence numbers. */
export class Server {
  readonly steps: Input[] = [{ do: 'open' }];
  seq = 0;

  /** Without the extensions if `plain`. */
  constructor(isPlain = false) {
    const extensions = ['binary', 'resume', 'hold', 'heard', 'notice', 'voice', 'cues', 'visemes'];
    const about = { character: { id: 'alice', name: 'Alice' }, extensions, resume: { token: 'rt_1', grace_s: 120 } };
    const session = { type: 'realtime', id: 'sess_1', model: 'alice', ...(isPlain ? {} : { x_dramatis: about }) };
    if (isPlain) this.steps.push({ do: 'text', frame: { type: 'session.created', event_id: 'event_1', session } });
    else this.text({ type: 'session.created', session });
  }

  text(event: Record<string, unknown>, seq = (this.seq += 1)): this {
    return this.raw({ event_id: `event_${seq}`, x_seq: seq, x_ms: seq * 10, ...event });
  }

  raw(frame: Record<string, unknown>): this {
    this.steps.push({ do: 'text', frame });
    return this;
  }

  /** A piece of the sound of a reply: a constant, another for each piece. */
  sound(replyNumber: number, offsetSamples: number, samples: number, seq = (this.seq += 1)): this {
    const frame = { kind: 'reply' as const, replyNumber, sequence: seq, offsetSamples };
    const bytes = encodeFrame({ ...frame, pcm16: pcmOf(samples, replyNumber * 100 + offsetSamples / 240) });
    this.steps.push({ do: 'binary', frame: toBase64(bytes) });
    return this;
  }

  begin(number: number, id = `resp_${number}`, item = `item_${number}`): this {
    const response = { object: 'realtime.response', id, status: 'in_progress', output: [], x_dramatis: { number } };
    this.text({ type: 'response.created', response });
    const added = { id: item, object: 'realtime.item', type: 'message', role: 'assistant', content: [] };
    return this.text({ type: 'response.output_item.added', response_id: id, output_index: 0, item: added });
  }

  end(number: number, status = 'completed'): this {
    const parts = { response_id: `resp_${number}`, item_id: `item_${number}`, output_index: 0, content_index: 0 };
    this.text({ type: 'response.output_audio.done', ...parts });
    return this.done(number, status);
  }

  done(number: number, status: string): this {
    const response = { object: 'realtime.response', id: `resp_${number}`, status, output: [] };
    return this.text({ type: 'response.done', response });
  }

  /** An event about the item of a reply. */
  of(number: number, type: string, fields: Record<string, unknown>): this {
    return this.text({ type, response_id: `resp_${number}`, item_id: `item_${number}`, ...fields });
  }

  also(...steps: Input[]): this {
    this.steps.push(...steps);
    return this;
  }

  mouth(...samples: number[]): this {
    return this.also(...samples.map((sample) => ({ do: 'mouth' as const, sample })));
  }

  /** The socket breaks and the session is resumed on the next one. */
  resumed(received: number | null, more: Record<string, unknown> = {}, code = 1006): this {
    this.also({ do: 'lost', code });
    return this.raw({ type: 'x_dramatis.resumed', received, ...more });
  }
}

export function pcmOf(samples: number, value: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new Int16Array(samples).fill(value).buffer);
}
