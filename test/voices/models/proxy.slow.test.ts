import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { answering, openConnectProxy, type ConnectProxy, type ProxyTrick } from '../../fakes/network/connect-proxy.ts';
import { openTlsTunnel } from '../../fakes/network/tls-tunnel.ts';
import { modelOf, openModelRig, weights, type ModelRig } from './model-rig.ts';

const run = promisify(execFile);

async function openProxy(): Promise<ConnectProxy> {
  const proxy = await openConnectProxy();
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  return proxy;
}

/** The environment of this process for the rest of the test; proxies are read when a client opens, so before the rig. */
function environment(settings: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(settings)) {
    process.env[name] = value;
    onTestFinished(() => void delete process.env[name]);
  }
}

/** A server of weights behind TLS, with what a child process needs to pull from it: arguments, and the certificate to trust. */
async function securely(rig: ModelRig) {
  const door = await openTlsTunnel(Number(new URL(rig.server.url).port));
  onTestFinished(() => door[Symbol.asyncDispose]());
  const catalogue = path.join(rig.dataDir, 'catalogue.json');
  const certificate = path.join(rig.dataDir, 'certificate.pem');
  await writeFile(catalogue, JSON.stringify([modelOf(`https://127.0.0.1:${door.port}`)]));
  await writeFile(certificate, door.certificate);
  const pulling = [
    'server/main.ts',
    'models',
    'pull',
    'tiny',
    '--data-dir',
    rig.dataDir,
    '--model-catalogue',
    catalogue,
  ];
  const { HTTPS_PROXY: _one, https_proxy: _two, NO_PROXY: _three, no_proxy: _four, ...own } = process.env;
  const env = (more: Readonly<Record<string, string>>) => ({ ...own, NODE_EXTRA_CA_CERTS: certificate, ...more });
  return { pulling, env, address: `127.0.0.1:${door.port}` };
}

const silent: ProxyTrick = () => true;
const hangsUp: ProxyTrick = (socket) => {
  socket.destroy();
  return true;
};
const refusing = answering('407 Proxy Authentication Required', 'proxy-authenticate: Basic');

describe('models pull behind a proxy', () => {
  it('models pull uses CONNECT for https, in a process that trusts the certificate', async () => {
    const proxy = await openProxy();
    const rig = await openModelRig();
    const { pulling, env, address } = await securely(rig);
    await run(process.execPath, pulling, { env: env({ HTTPS_PROXY: `http://${proxy.host}` }) });
    expect((await rig.installed())['tiny/tiny.onnx']?.equals(weights)).toBe(true);
    expect(new Set(proxy.asked)).toEqual(new Set([`CONNECT ${address}`]));
  });

  it.each(['127.0.0.1', '.example,127.0.0.1', '*'])(
    'models pull bypasses the proxy if NO_PROXY has %s',
    async (exempt) => {
      const proxy = await openProxy();
      const rig = await openModelRig();
      const { pulling, env } = await securely(rig);
      await run(process.execPath, pulling, { env: env({ HTTPS_PROXY: `http://${proxy.host}`, NO_PROXY: exempt }) });
      expect((await rig.installed())['tiny/tiny.onnx']?.equals(weights)).toBe(true);
      expect(proxy.asked).toEqual([]);
    },
  );

  it('models pull sends the proxy’s user name and password', async () => {
    const proxy = await openProxy();
    const seen = new Set<string | undefined>();
    proxy.trick = (_socket, request) => {
      seen.add(request.headers['proxy-authorization']);
      return false;
    };
    const rig = await openModelRig();
    const { pulling, env } = await securely(rig);
    await run(process.execPath, pulling, { env: env({ HTTPS_PROXY: `http://ann:s%C3%A9same@${proxy.host}` }) });
    expect([...seen]).toEqual([`Basic ${Buffer.from('ann:sésame').toString('base64')}`]);
  });

  it('models pull sends absolute URLs to the proxy for http', async () => {
    const proxy = await openProxy();
    environment({ HTTP_PROXY: `http://${proxy.host}` });
    const rig = await openModelRig();
    await rig.pull();
    expect((await rig.installed())['tiny/tiny.onnx']?.equals(weights)).toBe(true);
    expect(new Set(proxy.asked)).toEqual(new Set([`GET ${rig.server.url}/tiny.onnx`]));
  });

  it.each<readonly [string, ProxyTrick, RegExp, tries: number]>([
    ['wants a password', refusing, /proxy 127.0.0.1:\d+ requires a user name and a password.*HTTPS_PROXY/, 1],
    ['forbids the address', answering('403 Forbidden'), /refused the connection \(403\)/, 1],
    ['does not reach the server', answering('502 Bad Gateway'), /cannot reach the server \(502\)/, 5],
    ['hangs', silent, /did not respond for 0.05 s/, 5],
    ['cuts the connection', hangsUp, /closed the connection/, 5],
  ])('models pull reports a proxy that %s', async (_name, trick, detail, tries) => {
    const proxy = await openProxy();
    proxy.trick = trick;
    environment({ HTTPS_PROXY: `http://${proxy.host}` });
    const rig = await openModelRig({ stallMs: 50 });
    const failure = rig.pull(modelOf('https://models.invalid'));
    await expect(failure).rejects.toMatchObject({ code: 'model_proxy_failed', message: expect.stringMatching(detail) });
    expect(proxy.asked).toHaveLength(tries);
    expect(await rig.installed()).toEqual({});
  });

  it('models pull reports that the proxy needs a password, for http too', async () => {
    const proxy = await openProxy();
    proxy.trick = refusing;
    environment({ HTTP_PROXY: `http://${proxy.host}` });
    const rig = await openModelRig();
    await expect(rig.pull()).rejects.toMatchObject({ code: 'model_proxy_failed', message: /name and a password/ });
  });

  it('models pull reports that the proxy is unreachable', async () => {
    const proxy = await openConnectProxy();
    await proxy[Symbol.asyncDispose]();
    environment({ HTTPS_PROXY: `http://${proxy.host}` });
    const rig = await openModelRig();
    const failure = { code: 'model_proxy_failed', message: expect.stringContaining(`${proxy.host} cannot be reached`) };
    await expect(rig.pull(modelOf('https://models.invalid'))).rejects.toMatchObject(failure);
  });

  it.each(['socks5://127.0.0.1:1080', 'proxy:3128', 'http://'])(
    'models pull does not bypass an invalid proxy (%s)',
    async (place) => {
      environment({ HTTP_PROXY: place });
      const rig = await openModelRig();
      await expect(rig.pull()).rejects.toMatchObject({
        code: 'model_proxy_failed',
        message: /HTTP_PROXY is no address/,
      });
      expect(rig.server.seen).toEqual([]);
    },
  );

  it('models pull resumes after a proxy that cuts every tunnel once', async () => {
    const proxy = await openProxy();
    const rig = await openModelRig();
    const { pulling, env } = await securely(rig);
    let left = 2;
    proxy.trick = (socket) => {
      // Let the tunnel stand until the first bytes of an answer have come, then cut it.
      if (left > 0) socket.once('data', () => setImmediate(() => socket.destroy()));
      left -= 1;
      return false;
    };
    await run(process.execPath, pulling, { env: env({ HTTPS_PROXY: `http://${proxy.host}` }) });
    expect((await rig.installed())['tiny/tiny.onnx']?.equals(weights)).toBe(true);
  });

  it('models pull stops on Ctrl-C while the proxy hangs', async () => {
    const proxy = await openProxy();
    const rig = await openModelRig();
    const { pulling, env } = await securely(rig);
    const asked = new Promise<void>((resolve) => {
      proxy.trick = () => {
        resolve();
        return true;
      };
    });
    const child = spawn(process.execPath, pulling, {
      env: env({ HTTPS_PROXY: `http://${proxy.host}` }),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const said = createInterface({ input: child.stderr })[Symbol.asyncIterator]();
    const exit = once(child, 'exit');
    await asked;
    child.kill('SIGINT');
    expect((await said.next()).value).toBe('dramatis models: interrupted');
    // Long before the proxy's half minute is over, which the test's own time would not bear.
    expect(await exit).toEqual([130, null]);
  });
});
