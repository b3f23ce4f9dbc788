import { pcm16FromFloats } from '../../../voices/audio.ts';
import { connect } from '../../rigs/connection-rig.ts';

export type Wire = ReturnType<typeof connect>;

export const both = [
  { number: 1, name: 'Anna', user: 'anna' },
  { number: 2, name: 'Bob', user: 'bob' },
];

type Line = Pick<Wire, 'send' | 'clock'>;

export async function join(wire: Line, players: unknown): Promise<void> {
  wire.send({ type: 'session.update', event_id: 'e1', session: { x_dramatis: { players } } });
  await wire.clock.advance(20);
}

/** Sends sound of several players at once, at the pace of the clock. */
export async function stream(wire: Line, sounds: Readonly<Record<number, Float32Array>>): Promise<void> {
  const length = Math.max(...Object.values(sounds).map((sound) => sound.length));
  for (let offset = 0; offset < length; offset += 960) {
    for (const [player, sound] of Object.entries(sounds)) {
      if (offset >= sound.length) continue;
      const audio = pcm16FromFloats(sound.slice(offset, offset + 960)).toString('base64');
      wire.send({ type: 'input_audio_buffer.append', audio, x_dramatis: { player: Number(player) } });
    }
    await wire.clock.advance(40);
  }
}

export const joined = (...parts: readonly Float32Array[]): Float32Array =>
  Float32Array.from(parts.flatMap((part) => [...part]));

export const said = (wire: Wire): (string | undefined)[] =>
  wire.events
    .filter(({ type }) => type === 'conversation.item.added')
    .map((event: any) => event.item)
    .filter(({ role }) => role === 'user')
    .map(({ x_dramatis }) => x_dramatis?.speaker?.name);
