import { z } from 'zod';
import { parseBody } from '../../http/request-body.ts';
import { sessionPatchSchema, type SessionPatch } from '../../protocol/client-events.ts';
import { pcmFormat } from '../../realtime/audio-format.ts';
import type { Problem } from '../../session/contract/events.ts';

export interface CallRequest {
  readonly sdp: string;
  readonly session: (SessionPatch & { readonly model?: string | undefined }) | undefined;
}

/** Largest request body: an offer takes a few thousand bytes, a session's instructions may be long. */
export const callRequestBytes = 512 * 1024;

const schema = z.object({ session: sessionPatchSchema.extend({ model: z.string().max(256).optional() }) });

/** Reads the body of a call: only the offer (`application/sdp`), or a form with `sdp` and a `session` in JSON. */
export async function readCallRequest(body: unknown, contentType: string | undefined): Promise<CallRequest | Problem> {
  if (!(body instanceof Buffer)) return badBody;
  const type = contentType?.split(';')[0]?.trim().toLowerCase();
  if (type === 'application/sdp') return { sdp: body.toString('utf8'), session: undefined };
  if (type !== 'multipart/form-data') return badBody;
  let form: FormData;
  try {
    form = await new Response(new Uint8Array(body), { headers: { 'content-type': contentType ?? '' } }).formData();
  } catch {
    return { code: 'invalid_event', message: 'The form cannot be read.' };
  }
  const sdp = await textOf(form.get('sdp'));
  const session = await textOf(form.get('session'));
  if (sdp === undefined)
    return { code: 'invalid_event', message: 'The form has no offer. Add it as `sdp`.', param: 'sdp' };
  return session === undefined ? { sdp, session } : withSession(sdp, session);
}

/** Initial settings of a session over WebRTC: those of the client secret, then the call's. Tracks carry only Opus. */
export function startOf(secret: SessionPatch | undefined, call: SessionPatch | undefined): SessionPatch {
  return {
    ...secret,
    ...call,
    audio: {
      input: { ...secret?.audio?.input, ...call?.audio?.input, format: pcmFormat },
      output: { ...secret?.audio?.output, ...call?.audio?.output, format: pcmFormat },
    },
  };
}

function withSession(sdp: string, json: string): CallRequest | Problem {
  let session: unknown;
  try {
    session = JSON.parse(json);
  } catch {
    return { code: 'invalid_json', message: '`session` is not valid JSON.', param: 'session' };
  }
  const parsed = parseBody(schema, { session });
  return 'problem' in parsed ? parsed.problem : { sdp, session: parsed.body.session };
}

/** Reads a field of a form; clients send long ones as files. */
async function textOf(field: FormDataEntryValue | null): Promise<string | undefined> {
  return field === null || typeof field === 'string' ? (field ?? undefined) : field.text();
}

const badBody: Problem = {
  code: 'invalid_event',
  message: 'Send the offer of a peer connection as application/sdp, or a form with `sdp` and `session`.',
};
