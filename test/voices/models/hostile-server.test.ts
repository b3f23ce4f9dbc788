import { describe, expect, it } from 'vitest';
import { answer, type Trick } from '../../fakes/models/weights-server.ts';
import { modelOf, openModelRig, pieceBytes, weights } from './model-rig.ts';

/** Only the first so many requests for bytes. */
const first =
  (count: number, trick: Trick): Trick =>
  (request, response) =>
    !request.isLook && request.number < count ? trick(request, response) : undefined;

const cut: Trick = ({ range, file }, response) => {
  const from = range?.from ?? 0;
  const to = range?.to ?? file.length - 1;
  response.writeHead(range === undefined ? 200 : 206, {
    etag: '"one"',
    'content-length': to - from + 1,
    ...(range && { 'content-range': `bytes ${from}-${to}/${file.length}` }),
  });
  response.write(file.subarray(from, from + 300), () => response.destroy());
  return true;
};

const noRanges: Trick = ({ file }, response) => {
  response.writeHead(200, { etag: '"one"', 'content-length': file.length });
  response.end(file);
  return true;
};

const status =
  (code: number, headers: Record<string, string> = {}): Trick =>
  (_request, response) => {
    response.writeHead(code, headers);
    response.end('no');
    return true;
  };

/** What is overcome: the model is installed, to the byte. */
const overcome: Record<string, Trick> = {
  'cuts every connection once': first(11, cut),
  'gives each piece in bits of 300 bytes': cut,
  'has no ranges': noRanges,
  'has no ranges, and cuts the first two answers': (request, response) =>
    request.isLook || request.number >= 2
      ? noRanges(request, response)
      : cut({ ...request, range: undefined as never }, response),
  'gives ranges for the look, and not for the rest': (request, response) =>
    request.isLook ? undefined : noRanges(request, response),
  'answers 500 four times': first(4, status(500)),
  'answers 429 with a time': first(1, status(429, { 'retry-after': '7' })),
  'answers 503 with a date': first(1, status(503, { 'retry-after': new Date(Date.now() + 9_000).toUTCString() })),
  'says a range is longer than it is': first(3, ({ range, file }, response) => {
    const from = range?.from ?? 0;
    response.writeHead(206, { etag: '"one"', 'content-range': `bytes ${from}-${range?.to}/${file.length}` });
    response.end(file.subarray(from, from + 10));
    return true;
  }),
  'sent more than was requested': first(2, ({ range, file }, response) => {
    const from = range?.from ?? 0;
    response.writeHead(206, { etag: '"one"', 'content-range': `bytes ${from}-${range?.to}/${file.length}` });
    response.end(file.subarray(from));
    return true;
  }),
  'gives another part than was asked for': first(2, (request, response) => {
    answer({ ...request, range: { from: 5, to: 5 + pieceBytes - 1 } }, response, '"one"');
    return true;
  }),
  'redirects to itself elsewhere': ({ path }, response) =>
    path.startsWith('/real') ? undefined : status(302, { location: '/real.onnx' })({} as never, response),
};

/** What is not: nothing is installed, and the error says why. */
const fatal: Record<string, readonly [Trick, code: string]> = {
  'has no such file': [status(404), 'model_download_failed'],
  'wants a login': [status(401), 'model_download_failed'],
  'is always busy': [status(429), 'model_server_busy'],
  'is always broken': [status(502), 'model_download_failed'],
  'redirects in a loop': [status(302, { location: '/tiny.onnx' }), 'model_download_failed'],
  'redirects for ever': [
    ({ path }, response) => status(302, { location: `${path}x` })({} as never, response),
    'model_download_failed',
  ],
  'redirects to a file': [status(302, { location: 'file:///etc/hostname' }), 'model_download_failed'],
  'redirects to nowhere': [status(302, { location: 'http://[' }), 'model_download_failed'],
  'says the file is longer than it is': [
    ({ range, file }, response) => {
      if (range !== undefined && range.from >= file.length) return undefined;
      const part = file.subarray(range?.from ?? 0, (range?.to ?? file.length) + 1);
      const headers = { etag: '"one"', 'content-range': `bytes ${range?.from}-${range?.to}/${file.length + 5_000}` };
      response.writeHead(range === undefined ? 200 : 206, { ...headers, 'content-length': part.length });
      response.end(part);
      return true;
    },
    'model_download_failed',
  ],
  'sends nothing, politely': [
    ({ isLook, range, file }, response) => {
      if (isLook) return undefined;
      response.writeHead(206, { etag: '"one"', 'content-range': `bytes ${range?.from}-${range?.to}/${file.length}` });
      response.end();
      return true;
    },
    'model_download_failed',
  ],
  'serves corrupt bytes': [
    (request, response) => {
      const file = Buffer.from(request.file);
      file.writeUInt8(file.readUInt8(4_321) ^ 1, 4_321);
      answer({ ...request, file }, response, '"one"');
      return true;
    },
    'model_corrupt',
  ],
  'serves a page in place of the file': [
    (request, response) => {
      answer({ ...request, file: Buffer.from('<html>Log in to the hotel network</html>') }, response, '"one"');
      return true;
    },
    'model_corrupt',
  ],
};

describe('models pull, when the server', () => {
  it.each(Object.entries(overcome))('%s, installs the model', async (_name, trick) => {
    const rig = await openModelRig();
    rig.server.trick = trick;
    await expect(rig.pull()).resolves.toBe(true);
    const files = await rig.installed();
    expect(files['tiny/tiny.onnx']?.equals(weights)).toBe(true);
    await expect(rig.pull()).resolves.toBe(false);
  });

  it.each(Object.entries(fatal))('%s, installs nothing and says why', async (_name, [trick, code]) => {
    const rig = await openModelRig();
    rig.server.trick = trick;
    await expect(rig.pull()).rejects.toMatchObject({ name: 'ModelError', code });
    expect(await rig.installed()).toEqual({});
    // What was left must not harm the next run.
    rig.server.trick = undefined;
    await rig.pull();
    expect((await rig.installed())['tiny/tiny.onnx']?.equals(weights)).toBe(true);
  });

  it('falls silent in the middle, gives up on that connection and goes on', async () => {
    const rig = await openModelRig({ stallMs: 50 });
    rig.server.trick = first(3, ({ range, file }, response) => {
      response.writeHead(206, { etag: '"one"', 'content-range': `bytes ${range?.from}-${range?.to}/${file.length}` });
      response.write(file.subarray(range?.from, (range?.from ?? 0) + 100));
      return true;
    });
    await rig.pull();
    expect((await rig.installed())['tiny/tiny.onnx']?.equals(weights)).toBe(true);
  });

  it('always falls silent, says so', async () => {
    const rig = await openModelRig({ stallMs: 20 });
    rig.server.trick = () => true;
    await expect(rig.pull()).rejects.toMatchObject({ code: 'model_download_failed', message: /no data for/ });
  });

  it('waits as long as a busy server asks, a minute at most', async () => {
    const rig = await openModelRig();
    rig.server.trick = first(2, (request, response) =>
      status(429, { 'retry-after': request.number === 0 ? '7' : '86400' })(request, response),
    );
    const told: string[] = [];
    await rig.pull(rig.model, { lanes: 1, onRetry: (why, ms) => void told.push(`${why}, ${ms}`) });
    expect(rig.waits).toEqual([7_000, 60_000]);
    expect(told).toEqual(['the server responded with 429, 7000', 'the server responded with 429, 60000']);
  });

  it('changes the file between ranges, never mixes the two', async () => {
    const rig = await openModelRig();
    const before = Buffer.from(weights.map((byte) => byte ^ 255));
    rig.server.file = before;
    rig.server.trick = ({ number, isLook }) => {
      if (number === 4 && !isLook) Object.assign(rig.server, { file: weights, etag: '"two"' });
      return undefined;
    };
    // The hash is not known: only the server's versions tell.
    await rig.pull(modelOf(rig.server.url, { sha256: '' }), { lanes: 1 });
    expect((await rig.installed())['tiny/tiny.onnx']?.equals(weights)).toBe(true);
  });

  it('names no version, is asked for all of it in one where the hash is not known either', async () => {
    const rig = await openModelRig();
    rig.server.etag = undefined;
    await rig.pull(modelOf(rig.server.url, { sha256: '' }));
    expect(rig.server.seen).toEqual(['bytes=0-0 /tiny.onnx', 'all /tiny.onnx']);
  });

  it('has a file of another size than the catalogue states, is not asked for its bytes', async () => {
    const rig = await openModelRig();
    const model = modelOf(rig.server.url, { bytes: 4_000 });
    await expect(rig.pull(model)).rejects.toMatchObject({ code: 'model_download_failed' });
    expect(rig.server.seen).toEqual(['bytes=0-0 /tiny.onnx']);
  });

  it('is gone, and a mirror is there, asks that', async () => {
    const rig = await openModelRig();
    rig.server.trick = (request, response) =>
      request.path.startsWith('/mirror/') ? undefined : status(404)(request, response);
    await rig.pull(rig.model, { mirrors: ['http://elsewhere.invalid/=http://no.invalid/'] }).catch(() => undefined);
    expect(await rig.installed()).toEqual({});
    await rig.pull(rig.model, { mirrors: [`${rig.server.url}/=${rig.server.url}/mirror/`] });
    expect((await rig.installed())['tiny/tiny.onnx']?.equals(weights)).toBe(true);
  });
});
