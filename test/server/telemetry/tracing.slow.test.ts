import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { readConfig } from '../../../server/config/config.ts';
import { startServer } from '../../../server/app/serve.ts';
import { componentNames } from '../../../server/telemetry/metrics.ts';
import { latencyComponents } from '../../../server/session/contract/turn-timings.ts';
import { WebSocket } from 'ws';
import { record } from '../../rigs/serve-rig.ts';

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[];
}

/** An OTLP/HTTP collector that keeps what it gets. */
async function openCollector() {
  const bodies: string[] = [];
  const asked: { readonly url: string | undefined; readonly headers: IncomingHttpHeaders }[] = [];
  const server = createServer((request, response) => {
    asked.push({ url: request.url, headers: request.headers });
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (piece: string) => (body += piece));
    request.on('end', () => {
      bodies.push(body);
      response.setHeader('content-type', 'application/json').end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    bodies,
    spans: () =>
      bodies.flatMap((body) =>
        JSON.parse(body).resourceSpans.flatMap((resource: any) =>
          resource.scopeSpans.flatMap((scope: any) => scope.spans as Span[]),
        ),
      ) as Span[],
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const attribute = (span: Span | undefined, key: string): unknown =>
  Object.values(span?.attributes.find((one) => one.key === key)?.value ?? {})[0];

describe('tracing', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('exports one span per turn with a child for each latency component and no conversation text', async () => {
    vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'x-tenant=ours');
    vi.stubEnv('OTEL_SERVICE_NAME', 'stage');
    await using collector = await openCollector();
    const server = await startServer(
      readConfig({ flags: { port: '0', logLevel: 'silent', otlpEndpoint: collector.url }, environment: {} }),
    );
    const call = record(new WebSocket(`${server.url.replace('http', 'ws')}/v1/realtime?model=alice`));
    await call.until('session.created');
    const content = [{ type: 'input_text', text: 'Where does the white rabbit live?' }];
    call.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
    call.send({ type: 'response.create' });
    await call.until('response.output_audio.delta');
    call.send({ type: 'response.cancel' });
    const { response } = await call.until('response.done');
    call.socket.close();
    await server.close();

    const spans = collector.spans();
    const turn = spans.find(({ name }) => name === 'turn');
    const children = spans.filter(({ parentSpanId }) => parentSpanId === turn?.spanId);
    expect(spans).toHaveLength(1 + children.length);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    const { latency } = response.x_dramatis;
    expect(children.map(({ name }) => name)).toEqual(
      latencyComponents.filter((owner) => latency.owners[owner] !== null).map((owner) => componentNames[owner]),
    );
    const microseconds = ({ startTimeUnixNano, endTimeUnixNano }: Span): number =>
      Number((BigInt(endTimeUnixNano) - BigInt(startTimeUnixNano)) / 1_000n);
    const wholeMs = children.reduce((sum, child) => sum + microseconds(child), 0) / 1_000;
    expect(wholeMs).toBeCloseTo(latency.total_ms, 0);
    for (const [index, child] of children.entries()) {
      const before = children[index - 1];
      if (before !== undefined) expect(child.startTimeUnixNano).toBe(before.endTimeUnixNano);
    }
    expect(attribute(turn, 'dramatis.status')).toBe('cancelled');
    expect(attribute(turn, 'dramatis.reason')).toBe('client_cancelled');
    expect(attribute(turn, 'dramatis.character')).toBe('alice');
    expect(attribute(turn, 'dramatis.response')).toBe(response.id);
    expect(
      attribute(
        children.find(({ name }) => name === 'tts'),
        'dramatis.engine',
      ),
    ).toContain('flite');
    expect(collector.asked[0]).toMatchObject({ url: '/v1/traces', headers: { 'x-tenant': 'ours' } });
    const sent = collector.bodies.join('');
    expect(sent).toContain('{"key":"service.name","value":{"stringValue":"stage"}}');
    expect(sent).not.toMatch(/rabbit/i);
    for (const { transcript } of response.output[0]?.content ?? []) {
      if (transcript) expect(sent).not.toContain(transcript);
    }
  });

  it('neither delays replies nor shutdown if the trace collector is down', async () => {
    const collector = await openCollector();
    const { url } = collector;
    await collector[Symbol.asyncDispose]();
    vi.stubEnv('OTEL_EXPORTER_OTLP_TIMEOUT', '500');
    const server = await startServer(
      readConfig({ flags: { port: '0', logLevel: 'silent', otlpEndpoint: url }, environment: {} }),
    );
    const call = record(new WebSocket(`${server.url.replace('http', 'ws')}/v1/realtime?model=alice`));
    await call.until('session.created');
    call.send({ type: 'response.create' });
    await call.until('response.output_audio.delta');
    call.socket.close();
    await expect(server.close()).resolves.toBeUndefined();
  });
});
