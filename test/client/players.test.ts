import { describe, expect, it } from 'vitest';
import { pcm16FromFloats } from '../../voices/audio.ts';
import { silence, tone } from '../fakes/vad.ts';
import { openFlakyProxy } from '../fakes/network/flaky-proxy.ts';
import { openRig, recordTalk } from '../rigs/talk-rig.ts';

const players = [
  { number: 1, name: 'Anna' },
  { number: 2, name: 'Bob' },
];

function speakersIn({ of }: ReturnType<typeof recordTalk>): unknown[] {
  return of('conversation.item.added').flatMap(({ item }) => {
    const { x_dramatis: facts } = item as { x_dramatis?: { speaker?: { name: string } } };
    return (item as { role?: string }).role === 'user' ? [facts?.speaker?.name] : [];
  });
}

describe('the players of a talk', () => {
  it.each([false, true])(
    'speak and type by their numbers, with Opus: %s, also after the line was cut',
    async (opus) => {
      await using rig = await openRig({ hears: ['hello there', 'and here'], says: ['One.', 'Two.', 'Three.'] });
      await using proxy = await openFlakyProxy(rig.port);
      const recorded = recordTalk({ url: proxy.url, opus });
      const { talk, until } = recorded;
      await talk.opened;
      talk.send({ type: 'session.update', session: { type: 'realtime', x_dramatis: { players } } });
      await until('session.updated');
      const speak = (player: number): void => {
        for (const sound of [tone(600), silence(1_000)])
          for (let from = 0; from < sound.length; from += 960)
            talk.sendAudio(new Uint8Array(pcm16FromFloats(sound.subarray(from, from + 960))), { player });
      };
      speak(2);
      await until('response.done', 1);
      talk.say('Typed.', { player: 1 });
      await until('response.done', 2);
      proxy.cut();
      speak(1);
      await until('response.done', 3);
      expect(speakersIn(recorded)).toEqual(['Bob', 'Anna', 'Anna']);
      expect(recorded.of('error')).toEqual([]);
      talk.close();
    },
  );
});
