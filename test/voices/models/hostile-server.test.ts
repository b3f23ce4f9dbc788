import { describe, expect, it } from 'vitest';
import { answer, type Trick } from '../../fakes/models/weights-server.ts';
import { modelOf, openModelRig, weights } from './model-rig.ts';

/** Only the first so many requests. */
const first =
  (count: number, trick: Trick): Trick =>
  (request, response) =>
    request.number < count ? trick(request, response) : undefined;

/** Only requests for the rest of a file, after a first answer that was cut. */
const rest =
  (trick: Trick): Trick =>
  (request, response) =>
    (request.from === 0 ? cut : trick)(request, response);

/** Answers correctly, with other headers or another body; cuts the connection after `body` if it is too short. */
const answering =
  (
    change: (of: { readonly from: number; readonly file: Buffer }) => {
      readonly range?: string;
      readonly length?: number;
      readonly body?: Buffer;
    },
  ): Trick =>
  ({ from, file }, response) => {
    const { range, length, body = file.subarray(from) } = change({ from, file });
    response.writeHead(from === 0 ? 200 : 206, {
      etag: '"one"',
      ...(length !== undefined && { 'content-length': length }),
      ...(from > 0 && { 'content-range': range ?? `bytes ${from}-${file.length - 1}/${file.length}` }),
    });
    if (length === undefined || body.length >= length) response.end(body);
    else response.write(body, () => response.destroy());
    return true;
  };

const cut = answering(({ from, file }) => ({ length: file.length - from, body: file.subarray(from, from + 300) }));

const noRanges: Trick = (request, response) => {
  answer({ ...request, from: 0 }, response, '"one"');
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
  'cuts the connection after every 300 bytes': cut,
  'has no ranges': noRanges,
  'has no ranges, and cuts the first two answers': (request, response) =>
    (request.number < 2 ? cut : noRanges)({ ...request, from: 0 }, response),
  'answers 500 four times': first(4, status(500)),
  'answers 429 with a time': first(1, status(429, { 'retry-after': '7' })),
  'answers 503 with a date': first(1, status(503, { 'retry-after': new Date(Date.now() + 9_000).toUTCString() })),
  'sends less than it says': first(4, rest(answering(({ from, file }) => ({ body: file.subarray(from, from + 10) })))),
  'sends more than it was asked for': first(
    2,
    rest(answering(({ from, file }) => ({ body: Buffer.concat([file.subarray(from), Buffer.alloc(9)]) }))),
  ),
  'gives another part than was asked for': first(
    2,
    rest(answering(({ file }) => ({ range: `bytes 5-${file.length - 1}/${file.length}`, body: file.subarray(5) }))),
  ),
  'redirects to itself elsewhere': ({ path }, response) =>
    path.startsWith('/real') ? undefined : status(302, { location: '/real.onnx' })({} as never, response),
};

/** What is not: nothing is installed, and the error says why. */
const fatal: Record<string, readonly [Trick, code: string]> = {
  'has no such file': [status(404), 'model_download_failed'],
  'wants a login': [status(401), 'model_download_failed'],
  'is always busy': [status(429), 'model_server_busy'],
  'is always broken': [status(502), 'model_download_failed'],
  'cuts every answer at the same place, and has no ranges': [
    (request, response) => cut({ ...request, from: 0 }, response),
    'model_download_failed',
  ],
  'redirects in a circle': [status(302, { location: '/tiny.onnx' }), 'model_download_failed'],
  'redirects for ever': [
    ({ path }, response) => status(302, { location: `${path}x` })({} as never, response),
    'model_download_failed',
  ],
  'redirects to a file': [status(302, { location: 'file:///etc/hostname' }), 'model_download_failed'],
  'redirects to nowhere': [status(302, { location: 'http://[' }), 'model_download_failed'],
  'says the file is longer than it is': [
    (request, response) =>
      request.from < request.file.length
        ? answering(({ from, file }) => ({ length: file.length + 5_000 - from }))(request, response)
        : undefined,
    'model_download_failed',
  ],
  'sends nothing of the rest, politely': [rest(answering(() => ({ body: Buffer.alloc(0) }))), 'model_download_failed'],
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

describe('models pull from a misbehaving server', () => {
  it.each(Object.entries(overcome))('models pull installs the model from a server that %s', async (_name, trick) => {
    const rig = await openModelRig();
    rig.server.trick = trick;
    await expect(rig.pull()).resolves.toBe(true);
    const files = await rig.installed();
    expect(files['tiny/tiny.onnx']?.equals(weights)).toBe(true);
    await expect(rig.pull()).resolves.toBe(false);
  });

  it.each(Object.entries(fatal))(
    'models pull installs nothing and gives the reason if the server %s',
    async (_name, [trick, code]) => {
      const rig = await openModelRig();
      rig.server.trick = trick;
      await expect(rig.pull()).rejects.toMatchObject({ name: 'ModelError', code });
      expect(await rig.installed()).toEqual({});
      // What was left must not harm the next run.
      rig.server.trick = undefined;
      await rig.pull();
      expect((await rig.installed())['tiny/tiny.onnx']?.equals(weights)).toBe(true);
    },
  );

  it('models pull drops a connection that falls silent, and resumes', async () => {
    const rig = await openModelRig({ stallMs: 50 });
    rig.server.trick = first(3, ({ from, file }, response) => {
      const headers = from > 0 && { 'content-range': `bytes ${from}-${file.length - 1}/${file.length}` };
      response.writeHead(from > 0 ? 206 : 200, { etag: '"one"', 'content-length': file.length - from, ...headers });
      response.write(file.subarray(from, from + 100));
      return true;
    });
    await rig.pull();
    expect((await rig.installed())['tiny/tiny.onnx']?.equals(weights)).toBe(true);
  });

  it('models pull fails with a clear error if the server falls silent every time', async () => {
    const rig = await openModelRig({ stallMs: 20 });
    rig.server.trick = () => true;
    await expect(rig.pull()).rejects.toMatchObject({ code: 'model_download_failed', message: /no data for/ });
  });

  it('models pull waits as long as a busy server asks, a minute at most', async () => {
    const rig = await openModelRig();
    rig.server.trick = first(2, (request, response) =>
      status(429, { 'retry-after': request.number === 0 ? '7' : '86400' })(request, response),
    );
    const told: string[] = [];
    await rig.pull(rig.model, { onRetry: (why, ms) => void told.push(`${why}, ${ms}`) });
    expect(rig.waits).toEqual([7_000, 60_000]);
    expect(told).toEqual(['the server responded with 429, 7000', 'the server responded with 429, 60000']);
  });

  it('models pull never mixes two versions of a file that changes between ranges', async () => {
    const rig = await openModelRig();
    rig.server.file = Buffer.from(weights.map((byte) => byte ^ 255));
    rig.server.trick = (request, response) => {
      if (request.number < 3) return cut(request, response);
      if (request.number === 3) Object.assign(rig.server, { file: weights, etag: '"two"' });
      answer({ ...request, file: rig.server.file }, response, '"two"');
      return true;
    };
    // The hash is not known: only the server's versions tell.
    await rig.pull(modelOf(rig.server.url, { sha256: '' }));
    expect((await rig.installed())['tiny/tiny.onnx']?.equals(weights)).toBe(true);
    expect(rig.server.seen.map((line) => line.split(' ')[0])).toEqual([
      'all',
      'bytes=300-',
      'bytes=600-',
      'bytes=900-',
      'all',
    ]);
  });

  it('models pull starts over if the server names no version and the hash is unknown', async () => {
    const rig = await openModelRig();
    rig.server.etag = undefined;
    rig.server.trick = first(1, ({ file }, response) => {
      response.writeHead(200, { 'content-length': file.length });
      response.write(file.subarray(0, 300), () => response.destroy());
      return true;
    });
    await rig.pull(modelOf(rig.server.url, { sha256: '' }));
    expect(rig.server.seen).toEqual(['all /tiny.onnx', 'all /tiny.onnx']);
  });

  it('models pull fails after one look if the file has another size than the catalogue states', async () => {
    const rig = await openModelRig();
    const model = modelOf(rig.server.url, { bytes: 4_000 });
    const failure = { code: 'model_download_failed', message: /a file of 10017 bytes, not 4000/ };
    await expect(rig.pull(model)).rejects.toMatchObject(failure);
    expect(rig.server.seen).toEqual(['all /tiny.onnx']);
  });

  it('models pull uses a mirror if the server is gone', async () => {
    const rig = await openModelRig();
    rig.server.trick = (request, response) =>
      request.path.startsWith('/mirror/') ? undefined : status(404)(request, response);
    await rig.pull(rig.model, { mirrors: ['http://elsewhere.invalid/=http://no.invalid/'] }).catch(() => undefined);
    expect(await rig.installed()).toEqual({});
    await rig.pull(rig.model, { mirrors: [`${rig.server.url}/=${rig.server.url}/mirror/`] });
    expect((await rig.installed())['tiny/tiny.onnx']?.equals(weights)).toBe(true);
  });
});
