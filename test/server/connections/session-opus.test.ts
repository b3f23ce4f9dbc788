import { describe, expect, it } from 'vitest';
import { SessionOpus } from '../../../server/connections/session-opus.ts';
import { concatSamples } from '../../../voices/audio.ts';
import { signalToNoise, voiceLike } from '../../fakes/voice-like.ts';
import { packetsOf } from '../transports/websocket/opus-client.ts';

const sounds = [voiceLike(800, 24_000), voiceLike(800, 24_000).map((sample) => -sample / 2), new Float32Array(19_200)];

/** Decodes sounds of several players whose packets come in turn, as from a socket. */
async function decoded(players: readonly number[]): Promise<Map<number, Float32Array>> {
  const opus = await SessionOpus.open();
  const streams = await Promise.all(
    players.map((_player, at) => packetsOf(sounds[at % sounds.length] as Float32Array)),
  );
  const blocks = new Map(players.map((player) => [player, [] as Float32Array[]]));
  for (let packet = 0; packet < (streams[0]?.length ?? 0); packet += 1)
    for (const [at, player] of players.entries()) {
      await opus.waitFor(player);
      const samples = opus.decode(
        streams[at]?.[packet] ?? { packet: new Uint8Array(), skipSamples: 0, takeSamples: 0 },
        player,
      );
      if (samples !== undefined) blocks.get(player)?.push(samples);
    }
  opus.close();
  return new Map([...blocks].map(([player, all]) => [player, concatSamples(all)] as const));
}

describe('user audio as Opus of several players', () => {
  it('is decoded by itself, so that no player is heard in the sound of another', async () => {
    const heard = await decoded([0, 1, 2]);
    const alone = await Promise.all([0, 1, 2].map((at) => decodedAlone(at)));
    for (const [player, sound] of heard) expect(sound).toEqual(alone[player]);
    expect(signalToNoise(sounds[0] as Float32Array, heard.get(0) as Float32Array, 1)).toBeGreaterThan(15);
  });

  it('keeps a decoder for eight players and the user, however many numbers a client makes up', async () => {
    const opus = await SessionOpus.open();
    const [first] = await packetsOf(new Float32Array(4_800));
    for (let player = 0; player < 500; player += 1) {
      await opus.waitFor(player);
      expect(first && opus.decode(first, player)).toBeDefined();
    }
    expect(opus.decoders).toBe(9);
    opus.close();
    expect(opus.decoders).toBe(0);
  });
});

async function decodedAlone(at: number): Promise<Float32Array> {
  const opus = await SessionOpus.open();
  const blocks: Float32Array[] = [];
  for (const part of await packetsOf(sounds[at] as Float32Array)) blocks.push(opus.decode(part) ?? new Float32Array());
  opus.close();
  return concatSamples(blocks);
}
