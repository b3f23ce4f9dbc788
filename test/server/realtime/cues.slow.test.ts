import { afterAll, describe, expect, it } from 'vitest';
import { actor } from '../../../agents/actor/actor.ts';
import { loadCharacter } from '../../../characters/character.ts';
import { openEngines, type Engines } from '../../../server/engines/engines.ts';
import { cascade } from '../../../server/responders/responder.ts';
import { TurnTimings } from '../../../server/session/contract/turn-timings.ts';
import { concatSamples } from '../../../voices/audio.ts';
import { detectVoice, transcribeRecording } from '../../../voices/recognition/transcribe-recording.ts';
import { resample } from '../../../voices/dsp/resampler.ts';
import { fakeChat } from '../../agents/actor/stand-ins.ts';
import { ManualClock } from '../../fakes/clock.ts';
import { connect } from '../../rigs/connection-rig.ts';

const script = '[She is lying about the letter, surely.] (bows deeply) One two. (sits down) Three four five. [sighs]';

/** The cues and words of a spoken reply in order, its final response, and the length of its audio. */
async function told(cues: 'none' | 'visible' | 'all', modality: 'audio' | 'text' = 'audio') {
  const wire = connect({ says: [script], cues });
  wire.send({ type: 'response.create', response: { output_modalities: [modality] } });
  await wire.clock.advance(10_000);
  const rows = wire.events.flatMap((event: any) => {
    if (event.type === 'x_dramatis.cue') return [[event.kind, event.text, event.samples]];
    if (!/transcript\.delta|output_text\.delta/.test(event.type)) return [];
    const words = event.x_dramatis?.words ?? [{ text: event.delta, start_ms: 0 }];
    return words.map((word: any) => ['word', word.text.trim(), Math.round(word.start_ms * 24)]);
  });
  const done = wire.last('response.done').response;
  const samples = wire.events
    .filter(({ type }) => type === 'response.output_audio.delta')
    .reduce((sum, event: any) => sum + Buffer.from(event.delta, 'base64').length / 2, 0);
  await wire.hangUp();
  return { rows, done, samples, all: JSON.stringify(wire.events) };
}

describe('cues', () => {
  it('sends actions and thoughts at the sample of the next word to a client that asked for them', async () => {
    const { rows, samples } = await told('all');
    const kinds = rows.map(([kind, text]) => (kind === 'word' ? text : kind));
    expect(kinds).toEqual(['thought', 'action', 'One', 'two.', 'action', 'Three', 'four', 'five.', 'action']);
    const at = (text: string): number => rows.find((row) => row[1] === text)?.[2] ?? -1;
    expect(at('bows deeply')).toBe(0);
    expect(at('sits down')).toBe(at('Three'));
    expect(at('sighs')).toBe(samples);
  });

  it('sends no thoughts to a client that asked only for actions', async () => {
    const { rows, all } = await told('visible');
    expect(rows.map(([kind]) => kind)).not.toContain('thought');
    expect(rows.map(([kind]) => kind)).toContain('action');
    expect(all).not.toContain('lying');
  });

  it('sends no cues to stock clients in any event or item', async () => {
    for (const modality of ['audio', 'text'] as const) {
      const { all, done } = await told('none', modality);
      expect(all).not.toMatch(/lying|bows|sits|sighs/);
      const [part] = done.output[0].content;
      expect((part.transcript ?? part.text).trim()).toBe('One two. Three four five.');
    }
  });

  it('sends cues of a text reply', async () => {
    const { rows } = await told('visible', 'text');
    expect(rows.map(([kind, text]) => (kind === 'word' ? text : kind))).toEqual([
      'action',
      'One two.',
      'action',
      'Three four five.',
      'action',
    ]);
  });
});

/** Scripts of models that break the format of cues. */
const unruly = [
  '［angry］Please come in and sit down. (sad) {whistles} The weather is very cold today. ' +
    '**slams the door** _laughs loudly_ *I lean back in my chair.* We shall have dinner at seven. 🎺 (OOC: elephant? trumpet!) [tender',
  '(laughs (quietly) at the elephant) Please come in and sit down. [[whistles]] 〔spectacles〕 【angry】 ~♪ The weather is ' +
    'very cold today. [emotion: tender] <sad>We shall have dinner at seven.</sad> https://www.example.org/door?a=b\n*slams the door',
];

describe('cues in a real voice', () => {
  let engines: Engines | undefined;
  afterAll(() => engines?.close());

  /** The embedded recognizer's transcript of a script spoken by the embedded voice. */
  async function heardOf(says: string, recipe: 'coser' | 'dramatis'): Promise<string> {
    engines ??= await openEngines({});
    const character = await loadCharacter('characters/abraham-lincoln');
    const voice = engines.voiceOf(character);
    // Three characters per delta, so that every mark is split somewhere.
    const agent = actor(character, fakeChat(says.match(/[^]{1,3}/gu) ?? []), { recipe });
    const responder = cascade({ recognizer: engines.recognizer, agent, ...voice });
    const { signal } = new AbortController();
    const blocks: Float32Array[] = [];
    const options = { signal, speaks: true, scene: '', speed: 1, trace: new TurnTimings(new ManualClock()) };
    for await (const part of responder.reply([{ role: 'user', text: 'Hello' }], options))
      if (part.type === 'speech') blocks.push(part.chunk.frame.samples);
    const samples = resample(concatSamples(blocks), voice.synthesizer.sampleRate, engines.vad.sampleRate);
    const activity = await detectVoice(samples, engines.vad, { signal });
    return (await transcribeRecording(activity, engines.recognizer, { signal }))?.text.toLowerCase() ?? '';
  }

  it('never speaks emotion tags, thoughts or actions of a reply aloud', async () => {
    const says =
      '[tender] [She must never learn of the elephant.] (puts on his spectacles) Please come in and sit down. ' +
      '[angry] *slams the door* The weather is very cold today. (whistles)\nNarrator: A trumpet sounds.\nWe shall have dinner at seven.';
    for (const recipe of ['coser', 'dramatis'] as const) expect(await heardOf(says, recipe)).toSatisfy(isWordsAlone);
  }, 120_000);

  it.each(unruly)(
    'never speaks the malformed cues of a model aloud: %j',
    async (says) => {
      expect(await heardOf(says, 'dramatis')).toSatisfy(isWordsAlone);
    },
    120_000,
  );
});

const unspoken =
  /tender|elephant|spectacles|angry|slam|door|whistle|narrator|trumpet|bracket|asterisk|lean|chair|laugh|emotion|quiet|sad\b|brace|tilde|http/;

function isWordsAlone(heard: string): boolean {
  return ['sit down', 'cold today', 'dinner'].every((words) => heard.includes(words)) && !unspoken.test(heard);
}
