import { describe, expect, it } from 'vitest';
import { EngineError } from '../../../voices/engine.ts';
import { type Item, textOf } from '../../../server/session/contract/item.ts';
import { fakeSynthesizer } from '../../fakes/synthesizer.ts';
import { tone } from '../../fakes/vad.ts';
import { settle } from '../../fakes/clock.ts';
import { defaultSettings, openRig } from '../../rigs/session-rig.ts';

const typed = (id: string, text: string): Item => ({
  id,
  type: 'message',
  role: 'user',
  status: 'completed',
  content: [{ type: 'text', text }],
});

describe('spoken turn', () => {
  it('emits speech, transcript and reply events of a spoken turn in order', async () => {
    const rig = openRig({});
    await rig.silence(400);
    await rig.speak(600);
    await rig.silence(700);
    await rig.clock.advance(2_000);
    const order = rig.types().filter((type, index, all) => type !== all[index - 1]);
    expect(order.slice(0, 9)).toEqual([
      'speech-started',
      'transcript-partial',
      'speech-stopped',
      'audio-committed',
      'item-added',
      'transcript-final',
      'reply-started',
      'reply-item',
      'reply-text',
    ]);
    expect(order.at(-1)).toBe('reply-ended');
    expect(rig.of('reply-ended')).toHaveLength(1);
    expect(rig.of('reply-ended')[0]?.end).toMatchObject({ status: 'completed', mind: { name: 'fake-mind' } });
    expect(rig.agent.histories[0]).toEqual([{ role: 'user', text: 'hello there' }]);
  });

  it('includes the pre-roll before speech start in the utterance', async () => {
    const rig = openRig({});
    await rig.silence(1_000);
    await rig.speak(600);
    await rig.silence(800);
    const [started] = rig.of('speech-started');
    // 1000 ms of silence came first, 300 of which are padding.
    expect(started?.atMs).toBeGreaterThanOrEqual(650);
    expect(started?.atMs).toBeLessThanOrEqual(720);
    expect(rig.recognizer.heardMs[0]).toBeGreaterThan(1_300);
  });

  it('does not reply to an empty transcript', async () => {
    const rig = openRig({ hears: [''] });
    await rig.speak(400);
    await rig.silence(800);
    await rig.clock.advance(500);
    expect(rig.of('transcript-final')[0]?.text).toBe('');
    expect(rig.of('reply-started')).toHaveLength(0);
    await rig.speak(400);
    expect(rig.of('speech-started')).toHaveLength(2);
  });

  it('asks the user to repeat an utterance that was not understood', async () => {
    const unclear = { code: 'language_not_supported', message: 'Install another recognizer.' } as const;
    const rig = openRig({ hears: [{ text: '', unclear }] });
    await rig.speak(500);
    await rig.silence(800);
    await rig.clock.advance(500);
    expect(rig.of('transcript-final')[0]).toMatchObject({ text: '', unclear });
    expect(rig.agent.situations).toEqual(['unclear']);
    expect(rig.agent.histories).toEqual([[]]);
  });

  it('ends the turn although the client stopped sending in the middle of it', async () => {
    const rig = openRig({});
    await rig.speak(600);
    await rig.clock.advance(4_000);
    expect(rig.of('audio-committed')).toHaveLength(1);
    expect(rig.of('reply-ended')).toHaveLength(1);
  });

  it('ends the turn and keeps the session when recognition fails', async () => {
    const failure = new EngineError('asr', 'ENGINE_TIMEOUT', 'took too long');
    const rig = openRig({ hears: [failure, 'second try'] });
    await rig.speak(400);
    await rig.silence(800);
    expect(rig.of('transcript-failed')[0]?.problem.code).toBe('ENGINE_TIMEOUT');
    expect(rig.of('reply-started')).toHaveLength(0);
    await rig.speak(400);
    await rig.silence(800);
    expect(rig.of('transcript-final')[0]?.text).toBe('second try');
    expect(rig.of('reply-started')).toHaveLength(1);
  });

  it('continues when the VAD fails for a moment and reports it once', async () => {
    const rig = openRig({});
    rig.vad.failNext = true;
    await rig.silence(200);
    expect(rig.of('problem').map((event) => event.problem.code)).toEqual(['ENGINE_UNAVAILABLE']);
    await rig.speak(500);
    await rig.silence(800);
    expect(rig.of('reply-started')).toHaveLength(1);
  });
});

describe('reply', () => {
  it('sends reply audio at most 400 ms ahead of real time', async () => {
    const rig = openRig({});
    rig.send({ type: 'item-add', item: typed('a', 'hi') });
    rig.send({ type: 'reply', request: { inConversation: true } });
    await settle(20);
    const sentMs = (): number =>
      rig.of('reply-audio').reduce((sum, event) => sum + (event.samples.length / event.sampleRate) * 1000, 0);
    expect(sentMs()).toBeGreaterThan(300);
    expect(sentMs()).toBeLessThanOrEqual(400);
    await rig.clock.advance(300);
    expect(sentMs()).toBeLessThanOrEqual(700);
    await rig.clock.advance(2_000);
    expect(sentMs()).toBe(1_000);
  });

  it('cancels the reply when the user speaks over it and keeps what was heard in the history', async () => {
    const rig = openRig({});
    rig.send({ type: 'item-add', item: typed('a', 'hi') });
    rig.send({ type: 'reply', request: { inConversation: true } });
    await rig.silence(300);
    await rig.speak(400);
    const types = rig.types();
    expect(types.indexOf('speech-started')).toBeLessThan(types.indexOf('reply-ended'));
    expect(rig.of('reply-ended')[0]?.end).toMatchObject({ status: 'cancelled', reason: 'turn_detected' });
    const audioAfter = types.slice(types.indexOf('reply-ended')).filter((type) => type === 'reply-audio');
    expect(audioAfter).toEqual([]);
    const item = rig.session.conversation.items[1];
    expect(item && textOf(item)).toMatch(/^One two three four five( six)?$/);
    expect(item?.status).toBe('incomplete');
    await rig.silence(900);
    expect(rig.agent.histories.at(-1)?.[1]?.text).toMatch(/^One two three four five( six)?$/);
  });

  it('ends a failed reply with a coded problem and completes the next', async () => {
    const failure = new EngineError('tts', 'ENGINE_UNAVAILABLE', 'cannot be reached');
    const synthesizer = fakeSynthesizer({ failOn: 'broken', error: failure });
    const rig = openRig({ synthesizer, says: ['This is broken.', 'This works.'] });
    rig.send({ type: 'item-add', item: typed('a', 'hi') });
    rig.send({ type: 'reply', request: { inConversation: true } });
    await rig.clock.advance(500);
    expect(rig.of('reply-ended')[0]?.end).toMatchObject({ status: 'failed', problem: { code: 'ENGINE_UNAVAILABLE' } });
    rig.send({ type: 'reply', request: { inConversation: true } });
    await rig.clock.advance(1_500);
    expect(rig.of('reply-ended')[1]?.end.status).toBe('completed');
  });

  it('refuses a reply while another is running', async () => {
    const rig = openRig({});
    rig.send({ type: 'reply', request: { inConversation: true } });
    rig.send({ type: 'reply', request: { inConversation: true }, ref: 'again' });
    await settle(10);
    expect(rig.of('problem')).toMatchObject([
      { problem: { code: 'conversation_already_has_active_response' }, ref: 'again' },
    ]);
  });

  it('keeps an out-of-band reply out of the conversation', async () => {
    const rig = openRig({});
    rig.send({ type: 'reply', request: { inConversation: false, speaks: false, items: [typed('x', 'aside')] } });
    await rig.clock.advance(100);
    expect(rig.of('reply-ended')[0]?.end.status).toBe('completed');
    expect(rig.session.conversation.items).toHaveLength(0);
    expect(rig.agent.histories).toEqual([[{ role: 'user', text: 'aside' }]]);
  });

  it('ends the reply and closes every stream when the client disconnects', async () => {
    const rig = openRig({});
    rig.send({ type: 'reply', request: { inConversation: true } });
    await rig.speak(300);
    await rig.close();
    expect(rig.of('reply-ended')).toHaveLength(1);
    expect(rig.vad.openStreams).toBe(0);
  });
});

describe('push to talk', () => {
  const pushToTalk = { settings: { turnDetection: null } };

  it('commits and answers the buffered audio when the client asks', async () => {
    const rig = openRig(pushToTalk);
    await rig.speak(500);
    await rig.silence(2_000);
    expect(rig.types().filter((type) => type.startsWith('speech'))).toEqual([]);
    rig.send({ type: 'audio-commit' });
    rig.send({ type: 'reply', request: { inConversation: true } });
    await rig.clock.advance(2_000);
    expect(rig.of('audio-committed')).toHaveLength(1);
    expect(rig.agent.histories).toEqual([[{ role: 'user', text: 'hello there' }]]);
    expect(rig.of('reply-ended')[0]?.end.latency.basis).toBe('speech_end');
  });

  it('refuses to commit an empty buffer', async () => {
    const rig = openRig(pushToTalk);
    rig.send({ type: 'audio-commit', ref: 'c' });
    await settle();
    expect(rig.of('problem')).toMatchObject([{ problem: { code: 'input_audio_buffer_commit_empty' }, ref: 'c' }]);
  });

  it('clears the buffered audio when the client asks', async () => {
    const rig = openRig(pushToTalk);
    rig.send({ type: 'audio', samples: tone(400), sampleRate: 24_000 });
    rig.send({ type: 'audio-clear' });
    rig.send({ type: 'audio-commit' });
    await settle(20);
    expect(rig.of('audio-cleared')).toHaveLength(1);
    expect(rig.of('problem').map((event) => event.problem.code)).toEqual(['input_audio_buffer_commit_empty']);
  });

  it('processes commands in the order of the audio around them', async () => {
    const rig = openRig({ ...pushToTalk, hears: ['first', 'second'] });
    rig.send({ type: 'audio', samples: tone(400), sampleRate: 24_000 });
    rig.send({ type: 'audio-commit' });
    rig.send({ type: 'audio', samples: tone(800), sampleRate: 24_000 });
    rig.send({ type: 'audio-commit' });
    await settle(60);
    expect(rig.of('transcript-final').map((event) => event.text)).toEqual(['first', 'second']);
    expect(rig.recognizer.heardMs[1]).toBeGreaterThan(700);
  });
});

describe('settings', () => {
  it('changes the settings between turns and echoes them', async () => {
    const rig = openRig({});
    const settings = { ...defaultSettings, speaks: false };
    rig.send({ type: 'update', settings, echo: { mark: 1 } });
    rig.send({ type: 'reply', request: { inConversation: true } });
    await settle(10);
    expect(rig.of('updated')[0]?.echo).toEqual({ mark: 1 });
    expect(rig.of('reply-started')[0]?.speaks).toBe(false);
    expect(
      rig
        .of('reply-text')
        .map((event) => event.text)
        .join(''),
    ).toContain('One two');
    expect(rig.of('reply-audio')).toEqual([]);
  });
});
