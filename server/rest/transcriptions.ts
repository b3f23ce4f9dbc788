import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { AudioFileError, readAudioFile } from '../../voices/dsp/audio-file.ts';
import type { Problem } from '../session/contract/events.ts';
import type { AuthGuard } from '../http/auth-guard.ts';
import { sendProblem } from '../http/problem.ts';
import { parseBody } from '../http/request-body.ts';
import { answer } from './answer.ts';
import type { RestParts } from './rest.ts';
import { transcribe, type Transcript } from './transcribe.ts';

/** Upload limits: OpenAI's maximum size of a recording, and small form fields. */
export const uploadLimits = { fileSize: 25 * 2 ** 20, files: 1, fields: 20, fieldSize: 20_000, parts: 21 } as const;
/** Size of the recording plus the rest of the form. */
const mostBytes = uploadLimits.fileSize + 2 ** 20;
const maxSeconds = 600;
const tooLarge = 'the recording is larger than 25 MiB: split or compress it';

const schema = z.looseObject({
  language: z.string().max(35).optional(),
  response_format: z.enum(['json', 'text', 'verbose_json']).default('json'),
});

/**
 * `POST /v1/audio/transcriptions`: transcribes a recording. Unintelligible speech is not an error: the text is empty,
 * and `x_dramatis.unclear` gives the reason (with `text`, the header `x-dramatis-unclear`).
 */
export function addTranscriptions(app: FastifyInstance, parts: RestParts, auth: AuthGuard): void {
  app.post('/v1/audio/transcriptions', { onRequest: auth.work }, async (request, reply) => {
    if (!request.isMultipart()) {
      const message = 'Send a form (multipart/form-data) with the recording as `file`.';
      return sendProblem(reply, 400, { code: 'invalid_event', message, param: 'file' });
    }
    if (Number(request.headers['content-length'] ?? 0) > mostBytes) {
      return sendProblem(reply, 413, { code: 'audio_file_too_large', message: sentence(tooLarge), param: 'file' });
    }
    return answer(request, reply, async (signal) => {
      const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-upload-'));
      try {
        return await transcribeUpload(request, reply, path.join(folder, 'recording'), parts, signal);
      } catch (fault) {
        if (!(fault instanceof AudioFileError)) throw fault;
        return sendProblem(reply, statusOf(fault), fileProblem(fault));
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    });
  });
}

async function transcribeUpload(
  request: FastifyRequest,
  reply: FastifyReply,
  file: string,
  { engines }: RestParts,
  signal: AbortSignal,
): Promise<unknown> {
  const form = await receive(request, file, signal);
  if (!form.hasFile) {
    return sendProblem(reply, 400, { code: 'invalid_event', message: 'The recording is missing.', param: 'file' });
  }
  const parsed = parseBody(schema, form.fields);
  if ('problem' in parsed) return sendProblem(reply, 400, parsed.problem);
  const { language = '', response_format: format } = parsed.body;
  const { sampleRate } = engines.recognizer;
  const recording = await readAudioFile(file, { sampleRate, signal, maxSeconds, maxBytes: uploadLimits.fileSize });
  const transcript = await transcribe(recording, engines, { signal, ...(language === '' ? {} : { language }) });
  if (format === 'text') {
    const { unclear, text } = transcript.final;
    if (unclear !== undefined) reply.header('x-dramatis-unclear', unclear.code);
    return reply.type('text/plain; charset=utf-8').send(`${text}\n`);
  }
  return format === 'json' ? plain(transcript) : { ...plain(transcript), ...verbose(transcript, language || 'en') };
}

/** Writes the recording to `file` and returns the other form fields. */
async function receive(
  request: FastifyRequest,
  file: string,
  signal: AbortSignal,
): Promise<{ readonly hasFile: boolean; readonly fields: Readonly<Record<string, unknown>> }> {
  const fields: Record<string, unknown> = {};
  let hasFile = false;
  for await (const part of request.parts()) {
    if (part.type === 'field') fields[part.fieldname] = part.value;
    else if (part.fieldname === 'file' && !hasFile) {
      hasFile = true;
      await pipeline(part.file, createWriteStream(file, { mode: 0o600 }), { signal });
      if (part.file.truncated) throw new AudioFileError(file, 'audio_file_too_large', tooLarge);
    } else part.file.resume();
  }
  return { hasFile, fields };
}

function plain({ final, durationMs }: Transcript): Record<string, unknown> {
  return {
    text: final.text,
    usage: { type: 'duration', seconds: Math.round(durationMs) / 1000 },
    x_dramatis: { confidence: final.confidence ?? null, unclear: final.unclear ?? null },
  };
}

function verbose({ final, durationMs, speech }: Transcript, language: string): Record<string, unknown> {
  const segment = (span: NonNullable<Transcript['speech']>): Record<string, unknown> => ({
    id: 0,
    seek: 0,
    start: span.startMs / 1000,
    end: span.endMs / 1000,
    text: final.text,
    tokens: [],
    temperature: 0,
    avg_logprob: 0,
    compression_ratio: 1,
    no_speech_prob: 0,
  });
  return {
    task: 'transcribe',
    language: final.language ?? language,
    duration: Math.round(durationMs) / 1000,
    segments: speech === undefined || final.text === '' ? [] : [segment(speech)],
  };
}

function statusOf({ code }: AudioFileError): 400 | 413 {
  return code === 'audio_file_too_large' || code === 'audio_file_too_long' ? 413 : 400;
}

/** The reason without the path of the temporary file. */
function fileProblem({ code, message }: AudioFileError): Problem {
  const detail = message.slice(message.indexOf('recording: ') + 'recording: '.length);
  return { code, message: sentence(detail), param: 'file' };
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
