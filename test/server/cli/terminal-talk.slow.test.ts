import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { TerminalSpeaker } from '../../../server/cli/talk/terminal-speaker.ts';
import { terminalTalk } from '../../../server/cli/talk/terminal-talk.ts';
import { pcm16FromFloats } from '../../../voices/audio.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import { openFlakyProxy } from '../../fakes/network/flaky-proxy.ts';
import { silence, tone } from '../../fakes/vad.ts';
import { serve } from '../../rigs/serve-rig.ts';

/** Ten seconds of speech. */
const long = `One${' two three four five six seven eight nine ten'.repeat(10)}.`;

/** A playback program: records its audio and how often it was flushed. */
function fakePlayer() {
  const written: Uint8Array[] = [];
  return {
    written,
    flushes: 0,
    write: (pcm16: Uint8Array) => void written.push(pcm16),
    flush() {
      this.flushes += 1;
    },
    get bytes(): number {
      return written.reduce((sum, piece) => sum + piece.length, 0);
    },
  };
}

/** `dramatis talk` without its programs. */
function talk(url: string, apiKey?: string, character = 'alice') {
  const microphone = new PassThrough();
  const player = fakePlayer();
  const stop = new AbortController();
  let printed = '';
  const over = terminalTalk({
    url,
    character,
    ...(apiKey === undefined ? {} : { apiKey }),
    microphone,
    player,
    signal: stop.signal,
    print: (text) => (printed += text),
  });
  return {
    player,
    microphone,
    over,
    printed: () => printed,
    hear: (samples: Float32Array) => microphone.write(pcm16FromFloats(samples)),
    async hangUp() {
      stop.abort();
      await over;
    },
  };
}

describe('terminal conversation', () => {
  it('plays a greeting, hears the microphone and prints both sides of a terminal conversation', async () => {
    const { url } = await serve({ engines: fakeEngines({ says: ['Good day.', 'Curiouser.'] }) });
    const alice = talk(url);
    await expect.poll(alice.printed).toContain('alice: Good day.\n');
    await expect.poll(() => alice.player.bytes).toBeGreaterThan(200 * 48);
    alice.hear(tone(600));
    alice.hear(silence(1_000));
    await expect.poll(alice.printed).toContain('you: hello there\nalice: Curiouser.\n');
    await alice.hangUp();
  });

  it('stops the terminal’s playback at once when the user speaks and truncates the history there', async () => {
    const engines = fakeEngines({ says: [long, 'Yes?'] });
    const { url } = await serve({ engines });
    const alice = talk(url);
    await expect.poll(() => alice.player.bytes).toBeGreaterThan(0);
    alice.hear(tone(600));
    alice.hear(silence(1_000));
    await expect.poll(alice.printed).toContain('alice: Yes?\n');
    expect(alice.player.flushes).toBe(1);
    const [said, heard] = engines.agent.histories.at(-1) ?? [];
    expect(said?.text.length).toBeLessThan(long.length / 2);
    expect(heard?.text).toBe('hello there');
    await alice.hangUp();
  });

  it('pauses the terminal’s playback at a cough, resumes from the clause and prints each word once', async () => {
    const line = `One two three, four five six${' seven eight nine ten'.repeat(4)}.`;
    const { url } = await serve({ engines: fakeEngines({ says: [line], hears: [''] }) });
    const alice = talk(url);
    await expect.poll(() => alice.player.bytes).toBeGreaterThan(500 * 48);
    alice.hear(tone(200));
    await expect.poll(() => alice.player.flushes).toBe(1);
    const before = alice.player.bytes;
    alice.hear(silence(600));
    await expect.poll(() => alice.player.bytes, { timeout: 5_000 }).toBeGreaterThan(before);
    await expect.poll(alice.printed, { timeout: 10_000 }).toBe(`alice: ${line}\n`);
    // It plays to its end: 2.2 s, and the clause from its beginning once more.
    await expect.poll(() => alice.player.bytes, { timeout: 5_000 }).toBeGreaterThan(2_400 * 48);
    expect(alice.player.flushes).toBe(1);
    await alice.hangUp();
  }, 30_000);

  it('resumes the terminal conversation when the connection breaks', async () => {
    const engines = fakeEngines({ says: ['Good day.', 'Curiouser.'] });
    const { port, sessions } = await serve({ engines });
    await using proxy = await openFlakyProxy(port);
    const alice = talk(proxy.url);
    await expect.poll(alice.printed).toContain('Good day.\n');
    proxy.cut();
    await expect.poll(alice.printed).toContain('[connection lost');
    await expect.poll(alice.printed).toContain('[reconnected]');
    alice.hear(tone(600));
    alice.hear(silence(1_000));
    await expect.poll(alice.printed).toContain('Curiouser.\n');
    expect(sessions.opened).toBe(1);
    expect(engines.agent.histories.at(-1)).toHaveLength(2);
    await alice.hangUp();
  });

  it('keeps samples whole, however the recorder splits its output', async () => {
    const { url } = await serve({ engines: fakeEngines({ says: ['Good day.', 'Curiouser.'] }) });
    const alice = talk(url);
    await expect.poll(alice.printed).toContain('Good day.\n');
    const spoken = pcm16FromFloats(new Float32Array([...tone(600), ...silence(1_000)]));
    for (let from = 0; from < spoken.length; from += 1_001) alice.microphone.write(spoken.subarray(from, from + 1_001));
    await expect.poll(alice.printed).toContain('you: hello there\n');
    expect(alice.printed()).not.toContain('[');
    await alice.hangUp();
  });

  it('explains why a terminal conversation is refused', async () => {
    const { url } = await serve({ flags: { apiKeys: 'key' } });
    await expect(talk(url, 'wrong').over).rejects.toMatchObject({ code: 'connection_refused' });
    const welcome = talk(url, 'key');
    await expect.poll(welcome.printed).toContain('alice: ');
    await welcome.hangUp();
  });

  it('fails if there is no such character', async () => {
    const { url } = await serve();
    await expect(talk(url, undefined, 'nobody').over).rejects.toThrow('There is no character "nobody"');
  });

  it('ends the terminal conversation and fails if the microphone fails', async () => {
    const { url } = await serve();
    const alice = talk(url);
    await expect.poll(alice.printed).toContain('alice: ');
    alice.microphone.emit('error', 'rec has exited with error code 1.\n\nEnable debugging.');
    await expect(alice.over).rejects.toThrow(
      /^microphone: rec has exited with error code 1\. `dramatis doctor` checks it\.$/,
    );
    const quiet = talk(url);
    await expect.poll(quiet.printed).toContain('alice: ');
    await quiet.hangUp();
    quiet.microphone.emit('error', 'rec has exited with error code null.');
    expect(quiet.printed()).not.toContain('microphone');
  });
});

describe('TerminalSpeaker', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }));
  afterEach(() => void vi.useRealTimers());

  function open(now?: () => number) {
    const player = fakePlayer();
    const told: string[] = [];
    const played = new Map<string, number>();
    const listener = {
      onOnset: () => undefined,
      onProgress: (itemId: string, playedMs: number) => void played.set(itemId, playedMs),
      onEnded: (itemId: string) => void told.push(itemId),
    };
    const speaker = new TerminalSpeaker(player, listener, now);
    return { player, told, played, speaker, writtenMs: () => player.bytes / 48 };
  }

  it('writes audio to the player at real time, a little ahead, and knows what was heard', () => {
    const { speaker, played, told, writtenMs } = open();
    speaker.play('one', tone(500), 0);
    speaker.complete('one');
    vi.advanceTimersByTime(200);
    expect(writtenMs()).toBeGreaterThanOrEqual(200);
    expect(writtenMs()).toBeLessThanOrEqual(300);
    expect(played.get('one')).toBeGreaterThan(100);
    expect(played.get('one')).toBeLessThanOrEqual(200);
    expect([speaker.isPlaying, told]).toEqual([true, []]);
    vi.advanceTimersByTime(500);
    expect([speaker.isPlaying, told]).toEqual([false, ['one']]);
    const last = writtenMs();
    vi.advanceTimersByTime(10_000);
    expect(writtenMs()).toBe(last);
  });

  it('silences the player at once when flushed, returns what was heard and plays what follows', async () => {
    const { player, speaker, writtenMs } = open();
    speaker.play('one', tone(2_000), 0);
    vi.advanceTimersByTime(500);
    const heard = await speaker.flush();
    expect(player.flushes).toBe(1);
    expect(heard.get('one')).toBeGreaterThan(400);
    expect(heard.get('one')).toBeLessThanOrEqual(500);
    expect(speaker.isPlaying).toBe(false);
    const before = writtenMs();
    speaker.play('two', tone(100), 0);
    speaker.complete('two');
    vi.advanceTimersByTime(500);
    expect(writtenMs() - before).toBeGreaterThanOrEqual(100);
    expect(speaker.isPlaying).toBe(false);
  });

  it('plays more audio of a flushed reply and counts it from its own beginning', async () => {
    const { player, speaker, played, told, writtenMs } = open();
    speaker.play('one', tone(2_000), 0);
    vi.advanceTimersByTime(500);
    await speaker.flush();
    const before = writtenMs();
    vi.advanceTimersByTime(1_000);
    expect(writtenMs()).toBe(before);
    speaker.play('one', tone(300), 0);
    speaker.complete('one');
    vi.advanceTimersByTime(100);
    expect(played.get('one')).toBeLessThanOrEqual(100);
    vi.advanceTimersByTime(900);
    expect(writtenMs() - before).toBeGreaterThanOrEqual(300);
    expect([told, speaker.isPlaying, player.flushes]).toEqual([['one'], false, 1]);
  });

  it('does not catch up for a moment in which the process was starved', () => {
    let busyMs = 0;
    const { speaker, writtenMs } = open(() => performance.now() + busyMs);
    speaker.play('one', tone(5_000), 0);
    vi.advanceTimersByTime(200);
    const before = writtenMs();
    busyMs = 2_000;
    vi.advanceTimersByTime(100);
    expect(writtenMs() - before).toBeLessThan(300);
    speaker.close();
  });
});
