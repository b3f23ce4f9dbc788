import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import path from 'node:path';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import { generate } from 'selfsigned';
import { beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { ConfigError, readConfig } from '../../../server/config/config.ts';
import { openTls, trustAdvice } from '../../../server/tls/credentials.ts';
import { devCertificate, devCertificatePaths } from '../../../server/tls/dev-certificate.ts';
import { record, serve } from '../../rigs/serve-rig.ts';
import { testFolder } from '../../fakes/test-folder.ts';

let folder: string;
beforeEach(async () => void (folder = testFolder()));

const dayMs = 24 * 60 * 60 * 1000;

/** Writes a certificate and its key, and returns their paths. */
async function writePair(name: string, daysLeft = 100): Promise<{ cert: string; key: string }> {
  const made = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notAfterDate: new Date(Date.now() + daysLeft * dayMs),
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  });
  const [cert, key] = [path.join(folder, `${name}.crt`), path.join(folder, `${name}.key`)];
  await writeFile(cert, made.cert);
  await writeFile(key, made.private);
  return { cert, key };
}

/** Asks for the health page over TLS. */
async function health(port: number, ca: string): Promise<number | undefined> {
  const asking = request({ host: '127.0.0.1', port, path: '/healthz', ca }).end();
  const [response] = (await once(asking, 'response')) as [import('node:http').IncomingMessage];
  response.resume();
  return response.statusCode;
}

describe('TLS', () => {
  it('serves https and wss with the given certificate', async () => {
    const { cert, key } = await writePair('given');
    const { port } = await serve({ flags: { tlsCert: cert, tlsKey: key } });
    const ca = await readFile(cert, 'utf8');
    expect(await health(port, ca)).toBe(200);
    const wire = record(new WebSocket(`wss://127.0.0.1:${port}/v1/realtime?model=alice`, { ca }));
    await wire.until('session.created');
    wire.socket.close();
    await wire.closed;
  });

  it('serves the stock client, which supports only wss', async () => {
    const { port } = await serve({ flags: { tlsDev: true, dataDir: folder } });
    const { cert: ca } = await devCertificate(folder);
    const client = new OpenAI({ baseURL: `https://127.0.0.1:${port}/v1`, apiKey: 'none' });
    const realtime = new OpenAIRealtimeWS({ model: 'alice', options: { ca } }, client);
    const session = await new Promise<{ model?: string }>((resolve, reject) => {
      realtime.on('session.created', (event) => resolve(event.session as { model?: string }));
      realtime.on('error', reject);
    });
    expect(session.model).toBe('alice');
    realtime.close();
    await once(realtime.socket, 'close');
  });

  it('accepts the https origin of its own page', async () => {
    const { port } = await serve({ flags: { tlsDev: true, dataDir: folder } });
    const { cert: ca } = await devCertificate(folder);
    const origin = `https://127.0.0.1:${port}`;
    const wire = record(new WebSocket(`wss://127.0.0.1:${port}/v1/realtime`, { ca, origin }));
    expect((await wire.until('session.created'))['type']).toBe('session.created');
    wire.socket.close();
    await wire.closed;
  });

  it('refuses plain HTTP on a TLS port', async () => {
    const { port, log } = await serve({ flags: { tlsDev: true, dataDir: folder } });
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow('fetch failed');
    expect(await health(port, (await devCertificate(folder)).cert)).toBe(200);
    expect(log.join('')).not.toContain('"level":50');
  });
});

describe('devCertificate', () => {
  it('creates a development certificate for this machine’s names that is valid for a year', async () => {
    const { cert, key } = await devCertificate(folder);
    const certificate = new X509Certificate(cert);
    expect(certificate.checkHost('localhost')).toBe('localhost');
    expect(certificate.checkIP('127.0.0.1')).toBe('127.0.0.1');
    expect(certificate.subjectAltName).toContain('0:0:0:0:0:0:0:1');
    expect(certificate.checkHost('example.com')).toBeUndefined();
    const daysLeft = (Date.parse(certificate.validTo) - Date.now()) / dayMs;
    expect(daysLeft).toBeGreaterThan(360);
    expect(daysLeft).toBeLessThan(398);
    expect(key).toContain('PRIVATE KEY');
  });

  it('stores the development certificate with a private key only its owner can read, and reuses it', async () => {
    const first = await devCertificate(folder);
    const paths = devCertificatePaths(folder);
    expect((await stat(paths.key)).mode & 0o777).toBe(0o600);
    expect((await stat(path.dirname(paths.key))).mode & 0o777).toBe(0o700);
    await chmod(paths.key, 0o644);
    expect(await devCertificate(folder)).toEqual(first);
    expect((await stat(paths.key)).mode & 0o777).toBe(0o600);
  });

  it('replaces the development certificate before it expires and if it cannot be used', async () => {
    const paths = devCertificatePaths(folder);
    const first = await devCertificate(folder);
    const old = await writePair('old', 13);
    await writeFile(paths.cert, await readFile(old.cert));
    await writeFile(paths.key, await readFile(old.key));
    const second = await devCertificate(folder);
    expect([first.cert, await readFile(old.cert, 'utf8')]).not.toContain(second.cert);
    await writeFile(paths.key, first.key);
    expect((await devCertificate(folder)).key).not.toBe(first.key);
    await writeFile(paths.cert, 'nonsense');
    expect(new X509Certificate((await devCertificate(folder)).cert).checkHost('localhost')).toBe('localhost');
  });

  it('explains how to trust the development certificate', () => {
    expect(trustAdvice(folder)).toContain(`NODE_EXTRA_CA_CERTS=${devCertificatePaths(folder).cert}`);
  });
});

describe('TLS settings', () => {
  const read = (environment: Record<string, string>): unknown => readConfig({ flags: {}, environment });

  it('requires both certificate and key or neither', () => {
    expect(() => read({ DRAMATIS_TLS_CERT: 'a.crt' })).toThrow(/DRAMATIS_TLS_KEY is not/);
    expect(() => read({ DRAMATIS_TLS_KEY: 'a.key' })).toThrow(/DRAMATIS_TLS_CERT is not/);
    expect(() => read({ DRAMATIS_TLS_CERT: 'a', DRAMATIS_TLS_KEY: 'b', DRAMATIS_TLS_DEV: '1' })).toThrow(/choose one/);
    expect(read({})).toMatchObject({ tlsDev: false });
  });

  it('names the TLS file that cannot be used', async () => {
    const [one, other] = [await writePair('one'), await writePair('other')];
    const nonsense = path.join(folder, 'nonsense');
    await writeFile(nonsense, 'nonsense');
    const tls = (tlsCert: string, tlsKey: string): Promise<unknown> =>
      openTls({ tlsCert, tlsKey, tlsDev: false, dataDir: folder });
    expect(await tls(one.cert, one.key)).toMatchObject({ cert: await readFile(one.cert, 'utf8') });
    const wrong: [string, string, RegExp][] = [
      [path.join(folder, 'none'), one.key, /DRAMATIS_TLS_CERT: .* cannot be read/],
      [one.cert, path.join(folder, 'none'), /DRAMATIS_TLS_KEY: .* cannot be read/],
      [nonsense, one.key, /DRAMATIS_TLS_CERT: .* no readable PEM certificate/],
      [one.cert, nonsense, /DRAMATIS_TLS_KEY: .* no readable PEM private key/],
      [one.cert, other.key, /does not match the certificate/],
    ];
    for (const [cert, key, message] of wrong) {
      const failure = await tls(cert, key).catch((reason: unknown) => reason);
      expect(failure).toBeInstanceOf(ConfigError);
      expect((failure as Error).message).toMatch(message);
    }
  });
});
