import { describe, expect, it } from 'vitest';
import { componentNames } from '../../../server/telemetry/metrics.ts';
import { pcm16FromFloats } from '../../../voices/audio.ts';
import { EngineError } from '../../../voices/engine.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import { tone } from '../../fakes/vad.ts';
import { serve } from '../../rigs/serve-rig.ts';

/** The current samples of `/metrics` by name and labels. */
async function scrape(url: string, key?: string): Promise<ReadonlyMap<string, number>> {
  const headers = key === undefined ? undefined : { authorization: `Bearer ${key}` };
  const response = await fetch(`${url}/metrics`, headers === undefined ? {} : { headers });
  expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4');
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

const partNames = Object.values(componentNames);

const secret = 'The treasure lies under the old oak';
const heard = 'where did you bury it';

describe('/metrics', () => {
  it('exports turns, errors and sessions as metrics without any conversation text', async () => {
    const gone = new EngineError('fake', 'ENGINE_UNAVAILABLE', 'gone');
    const server = await serve({ engines: fakeEngines({ hears: [heard], says: [`${secret}.`, gone] }) });
    const call = server.call('?model=alice');
    await call.until('session.created');
    call.send({
      type: 'session.update',
      session: { type: 'realtime', audio: { input: { turn_detection: null } } },
    });
    const audio = pcm16FromFloats(tone(500)).toString('base64');
    call.send({ type: 'input_audio_buffer.append', audio });
    call.send({ type: 'input_audio_buffer.commit' });
    call.send({ type: 'response.create' });
    await call.until('response.done');
    call.send({ type: 'response.create' });
    await call.until('response.done');
    call.send({ type: 'response.cancel' });
    await call.until('error');
    const samples = await scrape(server.url);
    expect(samples.get('dramatis_turns_total{status="completed"}')).toBe(1);
    expect(samples.get('dramatis_turns_total{status="failed"}')).toBe(1);
    expect(samples.get('dramatis_errors_total{code="ENGINE_UNAVAILABLE"}')).toBe(1);
    expect(samples.get('dramatis_errors_total{code="response_cancel_not_active"}')).toBe(1);
    expect(samples.get('dramatis_barge_ins_total')).toBe(0);
    expect(samples.get('dramatis_sessions')).toBe(1);
    expect(samples.get('dramatis_sessions_opened_total')).toBe(1);
    expect(samples.get('dramatis_turn_latency_seconds_count{basis="speech_end"}')).toBe(1);
    expect(samples.get('dramatis_llm_seconds_count{engine="fake-mind"}')).toBe(1);
    expect(samples.get('dramatis_vad_seconds_count{engine="fake-vad"}')).toBe(1);
    const sums = [...samples].filter(([name]) =>
      partNames.some((part) => name.startsWith(`dramatis_${part}_seconds_sum`)),
    );
    const whole = samples.get('dramatis_turn_latency_seconds_sum{basis="speech_end"}') ?? Number.NaN;
    expect(sums.reduce((sum, [, seconds]) => sum + seconds, 0)).toBeCloseTo(whole, 6);
    for (const name of ['nodejs_eventloop_lag_p99_seconds', 'process_resident_memory_bytes']) {
      expect(samples.has(name)).toBe(true);
    }
    const text = [...samples.keys()].join('\n');
    expect(text).not.toContain('treasure');
    expect(text).not.toContain('bury');
    expect(text).not.toMatch(/sess_|resp_|item_|alice|127\.0\.0\.1/);
  });

  it('counts barge-ins', async () => {
    const says = [Array.from({ length: 80 }, (_, index) => `word${index}`).join(' ')];
    const server = await serve({ engines: fakeEngines({ says }) });
    const call = server.call('?model=alice');
    await call.until('session.created');
    call.send({ type: 'response.create' });
    await call.until('response.output_audio.delta');
    call.send({ type: 'input_audio_buffer.append', audio: pcm16FromFloats(tone(800)).toString('base64') });
    const { response } = await call.until('response.done');
    expect(response.status_details.reason).toBe('turn_detected');
    const samples = await scrape(server.url);
    expect(samples.get('dramatis_barge_ins_total')).toBe(1);
    expect(samples.get('dramatis_turns_total{status="cancelled"}')).toBe(1);
  });

  it('labels metrics only with the names of open engines', async () => {
    const server = await serve();
    const call = server.call('?model=alice');
    await call.until('session.created');
    call.send({ type: 'response.create' });
    await call.until('response.done');
    const names = [...(await scrape(server.url)).keys()].flatMap((name) => /engine="([\w-]+)"/.exec(name)?.[1] ?? []);
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !name.startsWith('fake-'))).toEqual([]);
  });

  it('requires an API key for metrics if the server has keys', async () => {
    const server = await serve({ flags: { apiKeys: 'k1' } });
    const refused = await fetch(`${server.url}/metrics`);
    expect(refused.status).toBe(401);
    expect(((await refused.json()) as { error: { code: string } }).error.code).toBe('invalid_api_key');
    expect((await scrape(server.url, 'k1')).get('dramatis_sessions')).toBe(0);
  });
});
