import { homedir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { ratings } from '../../characters/rating.ts';
import { recipeNames } from '../../agents/recipe-names.ts';
import { withoutBrackets } from './loopback.ts';
import { clusterSettings, limitSettings, sessionSettings } from './session-settings.ts';
import {
  count,
  execution,
  facts,
  httpUrl,
  ipAddress,
  list,
  mirrors,
  numeric,
  onOff,
  portRange,
  stunUrl,
  text,
  turnUrl,
} from './setting-types.ts';

const sha256 = z.hash('sha256').optional();

const defaultDataDir = path.join(process.env['XDG_DATA_HOME'] ?? path.join(homedir(), '.local', 'share'), 'dramatis');

/** Every setting, by group. Flags and environment variables are derived from the names; SETTINGS.md is generated. */
export const groups = {
  'Address, keys and TLS': {
    host: text
      .transform(withoutBrackets)
      .default('127.0.0.1')
      .register(facts, { env: 'HOST', value: 'ADDRESS', help: 'address to listen on' }),
    port: numeric(z.number().int().min(0).max(65_535))
      .default(8080)
      .register(facts, { env: 'PORT', help: 'port to listen on; 0 takes a free one' }),
    apiKeys: list.prefault([]).register(facts, {
      value: 'KEYS',
      secret: true,
      help: 'keys that clients must send, comma-separated, `KEY` or `NAME:KEY`; required unless HOST is loopback',
      more: 'Keys with the same name share their users.',
    }),
    allowedOrigins: list.prefault([]).register(facts, {
      value: 'ORIGINS',
      help: 'web origins that may connect besides the server’s own page, comma-separated',
    }),
    allowedHosts: list.prefault([]).register(facts, {
      value: 'HOSTS',
      help: 'additional host names that a server without keys answers to, comma-separated',
      more: 'Such as the name of a reverse proxy. A web page under another name is refused (DNS rebinding).',
    }),
    trustProxy: numeric(z.number().int().min(0).max(10)).default(0).register(facts, {
      help: 'number of reverse proxies in front, whose X-Forwarded-For is trusted',
    }),
    tlsCert: text.optional().register(facts, {
      value: 'FILE',
      help: 'certificate (PEM, with its chain): serves https and wss',
    }),
    tlsKey: text.optional().register(facts, { value: 'FILE', help: 'private key of the certificate (PEM)' }),
    tlsDev: onOff.default(false).register(facts, {
      help: 'serve https and wss with a self-signed certificate for localhost, made on first use',
    }),
  },
  Characters: {
    dataDir: text.default(defaultDataDir).register(facts, {
      value: 'DIR',
      shown: '~/.local/share/dramatis',
      help: 'folder for voices, models, memories and imported characters',
    }),
    charactersDir: text.optional().register(facts, { value: 'DIR', help: 'folder with more character packs' }),
    defaultCharacter: text.default('sherlock-holmes').register(facts, {
      value: 'ID',
      help: 'character for clients that request an OpenAI model, or none',
    }),
  },
  Engines: {
    preset: text.optional().register(facts, {
      value: 'ID',
      help: 'a system of the SpeechRole paper: its ASR, LLM and TTS, or its omni model',
      more: 'One of [these](../eval/SPEECHROLE.md#the-eleven-systems).',
    }),
    engines: text.optional().register(facts, {
      value: 'FILE',
      help: 'engines file (JSON)',
      more: 'See [Engines](../voices/ENGINES.md).',
    }),
    auto: onOff.default(false).register(facts, {
      help: 'use the best installed model for each stage that is not configured (`dramatis models`)',
      more: 'See [Models](../voices/MODELS.md#models).',
    }),
    asr: list.optional().register(facts, {
      value: 'ENGINES',
      shown: 'moonshine',
      help: 'ASR engines, comma-separated: names, or `KIND@URL#MODEL`; each is the fallback of the one before it',
    }),
    llm: list.optional().register(facts, {
      value: 'ENGINES',
      shown: 'retrieval',
      help: 'LLM engines, likewise; the last fallback is retrieval from the character’s own lines',
      more: 'Takes precedence over `DRAMATIS_LLM_BASE_URL`.',
    }),
    tts: list.optional().register(facts, { value: 'ENGINES', shown: 'embedded', help: 'TTS engines, likewise' }),
    recipe: z
      .enum(recipeNames)
      .default('dramatis')
      .register(facts, { value: 'NAME', help: `prompt recipe for the LLM: ${recipeNames.join(', ')}` }),
    llmBaseUrl: httpUrl.optional().register(facts, {
      value: 'URL',
      help: 'OpenAI-compatible LLM server, such as http://localhost:11434/v1',
    }),
    llmModel: text.optional().register(facts, { value: 'MODEL', help: 'chat model on that server' }),
    llmApiKey: text.optional().register(facts, { value: 'KEY', secret: true, help: 'API key of that server' }),
    embeddingsBaseUrl: httpUrl.optional().register(facts, {
      value: 'URL',
      help: 'server with OpenAI’s /embeddings, to find lines, lore, experiences and memories also by meaning',
      more: 'It receives these texts and what is said. A reply waits at most 250 ms for it.',
    }),
    embeddingsModel: text.optional().register(facts, { value: 'MODEL', help: 'embedding model on that server' }),
    embeddingsApiKey: text.optional().register(facts, { value: 'KEY', secret: true, help: 'API key of that server' }),
    rating: z
      .enum(ratings)
      .optional()
      .register(facts, {
        value: 'RATING',
        help: `content rating of all conversations: ${ratings.join(', ')}; a stricter rating of a card or a client secret takes precedence`,
        more: 'See [Ratings](PROTOCOL.md#ratings-rating).',
      }),
    moderationBaseUrl: httpUrl.optional().register(facts, {
      value: 'URL',
      help: 'server with OpenAI’s /moderations; if there is a rating, it checks conversations besides our word list',
      more: 'It receives what is said, clause by clause.',
    }),
    moderationModel: text
      .default('omni-moderation-latest')
      .register(facts, { value: 'MODEL', help: 'moderation model on that server' }),
    moderationApiKey: text.optional().register(facts, { value: 'KEY', secret: true, help: 'API key of that server' }),
    cassette: text.optional().register(facts, {
      value: 'FILE',
      help: 'record the answers of ASR, LLM and TTS; if the file exists, replay them bit for bit instead of calling the engines',
      more: 'For the CI of a game: [Cassettes](cassette/README.md).',
    }),
  },
  'Turns and replies': {
    smartTurn: text.optional().register(facts, {
      value: 'FILE',
      help: 'ONNX file of smart-turn v3, which detects the end of a turn from the audio',
    }),
    smartTurnHash: sha256.register(facts, {
      value: 'SHA256',
      shown: 'the known file’s',
      help: 'hash of the smart-turn file, if it is not the known one',
    }),
    speculativeRepliesPerTurn: numeric(z.number().int().min(0).max(10)).default(3).register(facts, {
      help: 'maximum number of speculative replies, which begin before the end of a turn is certain; 0 disables them',
    }),
    playoutAheadMs: numeric(z.number().min(100).max(5_000))
      .default(400)
      .register(facts, { help: 'how far ahead of real time reply audio is sent, in milliseconds' }),
  },
  'Local models': {
    speakerEncoder: text.optional().register(facts, {
      value: 'FILE',
      help: 'ONNX file of CAM++ or WavLM-large SV, to distinguish speakers',
      more: 'See [Voices](../voices/VOICES.md).',
    }),
    speakerEncoderHash: sha256.register(facts, {
      value: 'SHA256',
      shown: 'any',
      help: 'hash of the speaker encoder; no other file is loaded',
    }),
    dnsmos: text.optional().register(facts, {
      value: 'FILE',
      help: 'sig_bak_ovr.onnx of DNSMOS P.835: rates the quality of recordings',
    }),
    dnsmosP808: text.optional().register(facts, { value: 'FILE', help: 'model_v8.onnx of DNSMOS P.808, likewise' }),
    modelCatalogue: text.optional().register(facts, {
      value: 'FILE',
      shown: 'the built-in one',
      help: 'model catalogue of your own (JSON)',
      more: 'See [Models](../voices/MODELS.md#models).',
    }),
    modelMirrors: mirrors.prefault([]).register(facts, {
      value: 'FROM=TO',
      help: 'mirrors for downloads, comma-separated: URLs that begin with FROM are first tried at TO',
    }),
    providers: execution.optional().register(facts, {
      value: 'PROVIDERS',
      shown: 'those that passed their trial',
      help: 'execution providers in order of preference: cuda, webgpu, cpu; for one model `silero=cpu`',
      more: 'See [On a GPU](../voices/MODELS.md#on-a-gpu).',
    }),
    gpuMemoryMb: numeric(z.number().int().min(1).max(10_000_000).optional()).register(facts, {
      value: 'N',
      shown: 'no limit',
      help: 'maximum GPU memory for all models together, in MB',
    }),
    workers: numeric(count.max(64)).optional().register(facts, {
      value: 'N',
      shown: 'half the cores',
      help: 'threads for each local engine',
    }),
  },
  Sessions: sessionSettings,
  Limits: limitSettings,
  'Many nodes': clusterSettings,
  'WebRTC and phone calls': {
    webrtcHost: ipAddress.optional().register(facts, {
      value: 'ADDRESS',
      shown: 'HOST',
      help: 'address for WebRTC calls (UDP)',
    }),
    webrtcAddress: ipAddress.optional().register(facts, {
      value: 'ADDRESS',
      shown: 'the one in use',
      help: 'address announced to WebRTC clients, if a NAT maps it to this machine',
    }),
    webrtcPorts: portRange.optional().register(facts, {
      value: 'RANGE',
      shown: 'any',
      help: 'UDP ports for WebRTC calls, one per call, such as 20000-20099',
    }),
    stunUrl: stunUrl.optional().register(facts, {
      value: 'URL',
      help: 'STUN server that finds our public address, such as stun:HOST:3478',
    }),
    turnUrl: turnUrl.optional().register(facts, {
      value: 'URL',
      help: 'TURN server that relays WebRTC calls, such as turn:HOST:3478',
    }),
    turnUser: text.optional().register(facts, { value: 'NAME', help: 'user name on the TURN server' }),
    turnCredential: text.optional().register(facts, {
      value: 'PASSWORD',
      secret: true,
      help: 'password on the TURN server',
    }),
    twilio: onOff.default(false).register(facts, {
      help: 'accept unsigned phone calls at /v1/twilio, without an auth token',
    }),
    twilioAuthToken: text.optional().register(facts, {
      value: 'TOKEN',
      secret: true,
      help: 'auth token of your Twilio account: accepts phone calls at /v1/twilio that are signed with it',
    }),
  },
  'Logs and traces': {
    logLevel: z.enum(['silent', 'error', 'warn', 'info', 'debug']).default('info').register(facts, {
      value: 'LEVEL',
      help: 'silent, error, warn, info or debug',
    }),
    logContent: onOff.default(false).register(facts, { help: 'also log what is said (private)' }),
    otlpEndpoint: httpUrl.optional().register(facts, {
      env: 'OTEL_EXPORTER_OTLP_ENDPOINT',
      value: 'URL',
      help: 'OpenTelemetry collector (OTLP over HTTP) that receives a span for each turn',
    }),
  },
};

/** Schema of the configuration: type, range and default of every setting. */
export const settingsSchema = z.strictObject({
  ...groups['Address, keys and TLS'],
  ...groups.Characters,
  ...groups.Engines,
  ...groups['Turns and replies'],
  ...groups['Local models'],
  ...groups.Sessions,
  ...groups.Limits,
  ...groups['Many nodes'],
  ...groups['WebRTC and phone calls'],
  ...groups['Logs and traces'],
});

/** The whole configuration, frozen. */
export type Config = Readonly<z.infer<typeof settingsSchema>>;
