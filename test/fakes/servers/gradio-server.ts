import { openEngineServer, type EngineServer } from './engine-server.ts';
import type { Answer } from './faults.ts';
import { wavOf } from '../server-audio.ts';

/** Description of an app's input. */
export interface DescribedInput {
  readonly label: string;
  readonly parameter_name: string;
  readonly component: string;
  readonly parameter_default?: unknown;
}

/** Inputs of F5-TTS's app. */
export const f5Inputs: readonly DescribedInput[] = [
  { label: 'Reference Audio', parameter_name: 'ref_audio_input', component: 'Audio' },
  { label: 'Reference Text', parameter_name: 'ref_text_input', component: 'Textbox' },
  { label: 'Text to Generate', parameter_name: 'gen_text_input', component: 'Textbox' },
  { label: 'Remove Silences', parameter_name: 'remove_silence', component: 'Checkbox', parameter_default: false },
  { label: 'Randomize Seed', parameter_name: 'randomize_seed', component: 'Checkbox', parameter_default: true },
  { label: 'parameter_5', parameter_name: 'seed_input', component: 'Number', parameter_default: 0 },
  { label: 'Cross-Fade', parameter_name: 'cross_fade_slider', component: 'Slider', parameter_default: 0.15 },
  { label: 'NFE Steps', parameter_name: 'nfe_slider', component: 'Slider', parameter_default: 32 },
  { label: 'Speed', parameter_name: 'speed_slider', component: 'Slider', parameter_default: 1 },
];

/** Inputs of MaskGCT's app. */
export const maskgctInputs: readonly DescribedInput[] = [
  { label: 'Upload Prompt Wav', parameter_name: 'prompt_wav', component: 'Audio' },
  { label: 'Target Text', parameter_name: 'target_text', component: 'Textbox' },
  { label: 'Target Duration', parameter_name: 'target_len', component: 'Number', parameter_default: -1 },
  { label: 'Number of Timesteps', parameter_name: 'n_timesteps', component: 'Slider', parameter_default: 25 },
];

export const uploadedTo = '/tmp/gradio/0a1b/voice.wav';

/**
 * A Gradio app: description, upload, queue, events, file. It serves one call at a time, so one event stream is enough;
 * it speaks the input at `textAt`.
 */
export async function openGradioServer(
  options: {
    readonly endpoints?: Readonly<Record<string, readonly DescribedInput[]>>;
    /** False: Gradio 4, whose routes have no prefix. */
    readonly prefixed?: boolean;
    /** Replaces the event with the result. */
    readonly instead?: string;
    readonly sampleRate?: number;
  } = {},
): Promise<EngineServer> {
  const { endpoints = { basic_tts: f5Inputs }, prefixed = true, instead, sampleRate = 24_000 } = options;
  const prefix = prefixed ? '/gradio_api' : '';
  let said = '';
  const calls = Object.entries(endpoints).flatMap(([name, inputs]) => {
    const textAt = inputs.findIndex(({ parameter_name }) => /gen_text|target_text/.test(parameter_name));
    return [
      [
        `POST ${prefix}/call/${name}`,
        (request: { json(): Record<string, unknown> }): Answer => {
          const { data } = request.json();
          if (!Array.isArray(data) || data.length !== inputs.length) return json({ detail: [{ loc: ['data'] }] }, 422);
          said = String(data[textAt]);
          return json({ event_id: 'e0' });
        },
      ],
      [`GET ${prefix}/call/${name}/e0`, (): Answer => events(instead, server.url)],
    ] as const;
  });
  const server = await openEngineServer({
    [`GET ${prefix}/info`]: () => json({ named_endpoints: described(endpoints), unnamed_endpoints: {} }),
    [`POST ${prefix}/upload`]: async (request) =>
      (await request.form()).get('files') instanceof File ? json([uploadedTo]) : json({ detail: 'no files' }, 422),
    [`GET ${prefix}/file=/tmp/gradio/2c3d/audio.wav`]: () => ({
      headers: { 'content-type': 'audio/wav' },
      body: wavOf(said, sampleRate),
    }),
    ...Object.fromEntries(calls),
  });
  return server;
}

function events(instead: string | undefined, url: string): Answer {
  const files = [
    // Clients must not fetch anything from the `url` that an app reports.
    { path: '/tmp/gradio/2c3d/audio.wav', url: `${url}/elsewhere.wav`, meta: { _type: 'gradio.FileData' } },
    { path: '/tmp/gradio/4e5f/image.webp', meta: { _type: 'gradio.FileData' } },
    'I keep the house.',
    7,
  ];
  const end = instead ?? `event: complete\ndata: ${JSON.stringify(files)}\n\n`;
  const headers = { 'content-type': 'text/event-stream' };
  return { headers, body: ['event: heartbeat\ndata: null\n\n', 'event: generating\ndata: [null]\n\n', end] };
}

function described(endpoints: Readonly<Record<string, readonly DescribedInput[]>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(endpoints).map(([name, parameters]) => [`/${name}`, { parameters, returns: [] }]),
  );
}

function json(value: unknown, status = 200): Answer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) };
}
