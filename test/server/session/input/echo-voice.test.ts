import { describe, expect, it } from 'vitest';
import { textOf } from '../../../../server/session/contract/item.ts';
import { buzz, fakeSpeakerEncoder, inRoom } from '../../../fakes/speaker-encoder.ts';
import { fakeSynthesizer } from '../../../fakes/synthesizer.ts';
import { openRig } from '../../../rigs/session-rig.ts';

const character = { pitch: 110, formants: [500, 1_500] };
const user = { pitch: 210, formants: [800, 2_400] };
const line = `One two three four five${' six seven eight nine ten'.repeat(6)}.`;

/** The character's voice, a tenth of a second a word. */
function characterVoice(): ReturnType<typeof fakeSynthesizer> {
  const fake = fakeSynthesizer();
  return {
    ...fake,
    async *speak(...call) {
      for await (const chunk of fake.speak(...call)) {
        yield { ...chunk, frame: { ...chunk.frame, samples: buzz(chunk.frame.samples.length / 24, character) } };
      }
    },
  };
}

/** A session in which the character has been speaking for 1.2 s, to a user who is known by a first turn or not at all. */
async function speaking(options: {
  readonly hears: readonly string[];
  readonly encoder?: ReturnType<typeof fakeSpeakerEncoder> | undefined;
  readonly isKnown?: boolean;
  readonly says?: string;
}) {
  const { hears, encoder = fakeSpeakerEncoder(), isKnown = true, says = line } = options;
  const rig = openRig({
    hears: isKnown ? ['tell me something', ...hears] : hears,
    says: [says, 'Indeed.'],
    synthesizer: characterVoice(),
    ...(encoder === undefined ? {} : { speakerEncoder: encoder }),
  });
  if (isKnown) {
    await rig.hear(buzz(1_200, user));
    await rig.silence(1_000);
  } else rig.send({ type: 'reply', request: { inConversation: true } });
  await rig.silence(1_200);
  rig.events.length = 0;
  return { ...rig, encoder };
}

describe('speaker encoder against echo', () => {
  it.each([true, false])(
    'never takes the character’s own voice in the microphone for the user (user known: %s)',
    async (isKnown) => {
      const rig = await speaking({ hears: ['what a lovely evening we have'], isKnown });
      // The reply is held at 100 ms, and 400 ms of it are on their way.
      await rig.hear(inRoom(buzz(600, character)));
      await rig.silence(8_000);
      expect(rig.types()).not.toContain('speech-started');
      expect(rig.of('reply-ended')[0]?.end.status).toBe('completed');
    },
  );

  it.each([true, false])('stops the reply when the user’s voice speaks over it (user known: %s)', async (isKnown) => {
    const rig = await speaking({ hears: ['what a lovely evening we have'], isKnown });
    await rig.hear(inRoom(buzz(1_000, user)));
    await rig.silence(1_500);
    expect(rig.of('reply-ended')[0]?.end).toMatchObject({ status: 'cancelled', reason: 'turn_detected' });
    expect(rig.of('transcript-final')[0]?.text).toBe('what a lovely evening we have');
  });

  it('decides by the transcript if the overlap is too short for the speaker encoder', async () => {
    const rig = await speaking({ hears: ['stop that'] });
    const { length } = rig.encoder.clips;
    await rig.hear(buzz(300, user));
    await rig.silence(200);
    expect(rig.of('reply-ended')[0]?.end.reason).toBe('turn_detected');
    expect(rig.encoder.clips).toHaveLength(length);
  });

  it('stops the reply when the user speaks up in the middle of an echo', async () => {
    const rig = await speaking({ hears: ['what a lovely evening we have'] });
    await rig.hear(inRoom(buzz(800, character)));
    await rig.hear(buzz(2_000, user));
    await rig.silence(1_500);
    expect(rig.of('reply-ended')[0]?.end.reason).toBe('turn_detected');
  });

  it('takes no echo that continues after the reply for a user turn', async () => {
    const rig = await speaking({ hears: ['what a lovely evening we have'], says: `${line.slice(0, 90)}.` });
    await rig.hear(inRoom(buzz(1_500, character)));
    await rig.silence(3_000);
    expect(rig.of('transcript-final').map(({ text }) => text)).not.toContain('what a lovely evening we have');
    expect(rig.of('reply-started')).toHaveLength(0);
    const said = rig.session.conversation.items.filter((item) => item.type === 'message' && item.role === 'user');
    expect(said.map(textOf).filter(Boolean)).toEqual(['tell me something']);
  });

  it('decides by the transcript and logs a fault if the speaker encoder fails', async () => {
    const rig = await speaking({
      hears: ['what a lovely evening we have'],
      encoder: fakeSpeakerEncoder({ fails: true }),
    });
    await rig.hear(inRoom(buzz(1_000, character)));
    await rig.silence(1_500);
    expect(rig.of('reply-ended')[0]?.end.reason).toBe('turn_detected');
    expect(rig.faults.length).toBeGreaterThan(0);
  });

  it.each([true, false])(
    'lets the user interrupt even if the speaker encoder finds all voices alike (user known: %s)',
    async (isKnown) => {
      let calls = 0;
      const untrained = fakeSpeakerEncoder();
      const encoder: typeof untrained = {
        ...untrained,
        // Each a little off, now to this side and now to that.
        embed: async () => Float32Array.of(1, ((calls += 1) % 3) / 100),
      };
      const rig = await speaking({ hears: ['what a lovely evening we have'], encoder, isKnown });
      await rig.hear(inRoom(buzz(1_000, user)));
      await rig.silence(1_500);
      expect(rig.of('reply-ended')[0]?.end).toMatchObject({ status: 'cancelled', reason: 'turn_detected' });
      expect(rig.of('transcript-final').map(({ text }) => text)).toContain('what a lovely evening we have');
    },
  );
});
