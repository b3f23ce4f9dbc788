import type { OpenAIRealtimeWebSocket } from 'openai/realtime/websocket';
import type { OpenAIRealtimeWS } from 'openai/realtime/ws';
import { expect, vi } from 'vitest';
import { pcm16FromFloats } from '../../../voices/audio.ts';
import { orderViolations, unfinishedResponses, type RecordedEvent } from '../../conformance/realtime-order.ts';

// Untyped, because each test knows the fields of its events.
type Wire = any;

/** Checks the ordering rules that all events of a session must follow. */
export function expectOrder(events: readonly RecordedEvent[]): void {
  expect(orderViolations(events)).toEqual([]);
  expect(unfinishedResponses(events)).toEqual([]);
}

/** A client of the `openai` package, over either of its sockets, that records events and faults. It closes `tunnel`. */
export function recordClient(realtime: OpenAIRealtimeWS | OpenAIRealtimeWebSocket, tunnel: AsyncDisposable) {
  const events: RecordedEvent[] = [];
  const faults: unknown[] = [];
  realtime.on('event', (event) => events.push(event as unknown as RecordedEvent));
  realtime.on('error', (fault) => faults.push(fault));
  const of = (type: string): Wire[] => events.filter((event) => event.type === type);
  return {
    realtime,
    events,
    faults,
    of,
    append: (samples: Float32Array) =>
      realtime.send({ type: 'input_audio_buffer.append', audio: pcm16FromFloats(samples).toString('base64') }),
    /** Resolves with the event of this type that completes the count. */
    async until(type: string, count = 1): Promise<Wire> {
      await vi.waitUntil(() => of(type).length >= count, { timeout: 30_000, interval: 5 });
      return of(type)[count - 1];
    },
    async [Symbol.asyncDispose]() {
      realtime.close();
      await tunnel[Symbol.asyncDispose]();
    },
  };
}
