import { toBase64 } from '../../../server/client/audio/pcm.js';
import { playerCases } from './conformance-player-cases.ts';
import { pcmOf, Server, type Input } from './server-script.ts';

function heardSpeech(): Record<string, unknown> {
  return { type: 'input_audio_buffer.speech_started', audio_start_ms: 900, item_id: 'item_user' };
}

const shapes = {
  basis: 'engine',
  from: 0,
  until: 1_440,
  visemes: [
    [0, 'sil'],
    [120, 'kk'],
    [480, 'PP'],
    [960, 'ou', 0.5],
  ],
};
const render = (samples: number): Input => ({ do: 'render', samples });
const piece = toBase64(pcmOf(240, 7));

/** The cases by name. Positions are multiples of 24 samples, since some clients count in milliseconds. */
export const cases: Readonly<Record<string, readonly Input[]>> = {
  'plays a reply, reports what was heard, moves the mouth': new Server()
    .begin(1)
    .of(1, 'x_dramatis.visemes', shapes)
    .sound(1, 0, 480)
    .of(1, 'response.output_audio_transcript.delta', { output_index: 0, content_index: 0, delta: 'Good evening.' })
    .sound(1, 480, 480)
    .mouth(0)
    .also(render(240))
    .mouth(0, 240, 420, 480, 959, 960, 1_200, 1_400, 1_440, 9_000)
    .sound(1, 960, 480)
    .end(1)
    .also(render(720), render(720), render(240))
    .mouth(960).steps,
  'plays base64 of a server without extensions': new Server(true)
    .raw({ type: 'response.created', response: { id: 'resp_1', status: 'in_progress', output: [] } })
    .raw({
      type: 'response.output_item.added',
      response_id: 'resp_1',
      item: { id: 'item_1', type: 'message', role: 'assistant' },
    })
    .raw({ type: 'response.output_audio.delta', response_id: 'resp_1', item_id: 'item_1', delta: piece })
    .raw({ type: 'response.output_audio.delta', response_id: 'resp_1', item_id: 'item_1', delta: piece })
    .also(render(240))
    .mouth(100)
    .also({ do: 'audio', pcm16: piece }, { do: 'interrupt' })
    .raw({ type: 'response.done', response: { id: 'resp_1', status: 'cancelled', output: [] } })
    .also({ do: 'say', text: 'And “then”?\n' }, { do: 'lost', code: 1006 }, { do: 'wait', ms: 500 })
    .raw({ type: 'session.created', session: { id: 'sess_2', model: 'alice' } }).steps,
  'asks for a reply once the last one is done': new Server()
    .also({ do: 'say', text: 'Who are you?' })
    .begin(1)
    .text({
      type: 'error',
      error: {
        type: 'invalid_request_error',
        code: 'conversation_already_has_active_response',
        message: 'busy',
        event_id: 'asked',
      },
    })
    .done(1, 'completed')
    .begin(2)
    .text({
      type: 'error',
      error: { type: 'invalid_request_error', code: 'item_not_found', message: 'none', event_id: 'unasked' },
    })
    .text({
      type: 'error',
      error: { type: 'invalid_request_error', code: 'invalid_value', message: 'wrong', event_id: 'mine' },
    })
    .done(2, 'completed').steps,
  'resumes in the middle of a line, repeats nothing and misses nothing': new Server()
    .begin(1)
    .of(1, 'x_dramatis.visemes', shapes)
    .sound(1, 0, 480)
    .also(
      render(240),
      { do: 'audio', pcm16: piece },
      { do: 'send', event: { type: 'response.create', event_id: 'mine' } },
    )
    .raw({ type: 'x_dramatis.ack', x_ack: 1, x_kept: 1 })
    .also({ do: 'lost', code: 1006 }, { do: 'audio', pcm16: piece })
    .raw({ type: 'x_dramatis.resumed', received: 1 })
    .sound(1, 0, 480, 5)
    .sound(1, 480, 480)
    .mouth(720)
    .sound(1, 1_440, 480, 9)
    .raw({ type: 'x_dramatis.resumed', received: 3 })
    .sound(1, 960, 480)
    .sound(1, 1_440, 480)
    .end(1)
    .also(render(1_680)).steps,
  'resumes with a restarted server, whose numbers jump and who greets again': new Server()
    .begin(1)
    .sound(1, 0, 480)
    .also(render(240), { do: 'audio', pcm16: piece }, { do: 'lost', code: 1006 }, { do: 'audio', pcm16: piece })
    .raw({ type: 'x_dramatis.resumed', received: null, restarted: true })
    .text({ type: 'response.done', response: { id: 'resp_1', status: 'cancelled', output: [] } }, 1_000)
    .text(
      {
        type: 'response.created',
        response: { id: 'resp_2', status: 'in_progress', output: [], x_dramatis: { number: 2 } },
      },
      1_001,
    )
    .text(
      {
        type: 'response.output_item.added',
        response_id: 'resp_2',
        item: { id: 'item_2', type: 'message', role: 'assistant' },
      },
      1_002,
    )
    .sound(2, 0, 480, 1_003)
    .text({ type: 'response.done', response: { id: 'resp_2', status: 'completed', output: [] } }, 1_004)
    .also(render(480), render(24)).steps,
  'opens a new session if the old one is gone, and tells how much sound was lost': new Server()
    .begin(1)
    .sound(1, 0, 480)
    .also(render(240), { do: 'lost', code: 1006 }, { do: 'audio', pcm16: piece })
    .raw({ type: 'error', error: { type: 'invalid_request_error', code: 'session_not_resumable', message: 'gone' } })
    .also({ do: 'audio', pcm16: piece })
    .raw({
      type: 'session.created',
      event_id: 'e1',
      x_seq: 1,
      session: {
        id: 'sess_2',
        model: 'alice',
        x_dramatis: { extensions: ['binary', 'resume', 'heard'], resume: { token: 'rt_2', grace_s: 120 } },
      },
    })
    .also({ do: 'say', text: 'Hello?' }).steps,
  'holds on a sound of the user and says the clause again with its shapes': new Server()
    .begin(1)
    .of(1, 'x_dramatis.visemes', shapes)
    .of(1, 'x_dramatis.cue', { kind: 'action', text: 'nods', start_ms: 50, samples: 1_200 })
    .sound(1, 0, 1_440)
    .also(render(720))
    .text({ type: 'x_dramatis.hold', response_id: 'resp_1' })
    .mouth(720)
    .text({ type: 'x_dramatis.resume', response_id: 'resp_1', later_ms: 50, later_samples: 1_200 })
    .sound(1, 1_440, 1_200)
    .also(render(240))
    .mouth(1_440, 1_680, 2_000, 2_639)
    .end(1)
    .also(render(720), render(240), render(24)).steps,
  'ends a held reply that gets no more sound': new Server()
    .begin(1)
    .sound(1, 0, 480)
    .also(render(240))
    .text({ type: 'x_dramatis.hold', response_id: 'resp_1' })
    .end(1).steps,
  'is cut off by speech: silence, a closed mouth, and nothing unheard happens': new Server()
    .begin(1)
    .of(1, 'x_dramatis.visemes', shapes)
    .of(1, 'x_dramatis.cue', { kind: 'action', text: 'smiles', start_ms: 10, samples: 240 })
    .of(1, 'x_dramatis.action', {
      action_id: 'act_1',
      name: 'point_at',
      target: 'lantern',
      args: {},
      start_ms: 40,
      samples: 960,
    })
    .sound(1, 0, 1_440)
    .also(render(480))
    .mouth(500)
    .text(heardSpeech())
    .mouth(500)
    .sound(1, 1_440, 480)
    .done(1, 'cancelled')
    .begin(2)
    .sound(2, 0, 480)
    .end(2)
    .also(render(480), render(24)).steps,
  'is interrupted by the game': new Server()
    .begin(1)
    .sound(1, 0, 480)
    .also(render(240), { do: 'interrupt' })
    .done(1, 'cancelled')
    .also({ do: 'interrupt' }).steps,
  'stops what the server cancelled': new Server().begin(1).sound(1, 0, 480).also(render(240)).done(1, 'cancelled')
    .steps,
  'lets nobody interrupt a session that says so': new Server()
    .text({
      type: 'session.updated',
      session: {
        id: 'sess_1',
        audio: { input: { turn_detection: { type: 'semantic_vad', interrupt_response: false } } },
        x_dramatis: { extensions: ['binary', 'resume', 'heard'] },
      },
    })
    .begin(1)
    .sound(1, 0, 480)
    .also(render(240))
    .text(heardSpeech())
    .also(render(240)).steps,
  'acts at the sample, withdraws, and passes on what it does not know': new Server()
    .begin(1)
    .text({
      type: 'x_dramatis.cue',
      response_id: 'resp_1',
      item_id: null,
      kind: 'action',
      text: 'smiles',
      start_ms: 0,
      samples: 0,
    })
    .of(1, 'x_dramatis.action', { action_id: 'act_1', name: 'nod', args: {}, start_ms: 20, samples: 480 })
    .of(1, 'x_dramatis.action', {
      action_id: 'act_2',
      name: 'walk_to',
      target: 'door',
      args: { fast: true, steps: [1, 2.5] },
      samples: 960,
    })
    .of(1, 'x_dramatis.action', { action_id: 'act_3', name: 'wave', args: {}, samples: 960 })
    .text({ type: 'x_dramatis.world_taken', id: 'w17', revision: 17, tokens: 412, dropped_events: 0 })
    .text({ type: 'x_dramatis.unheard_of', deep: { list: [null, true, 'ü “x” \u0001', -1.5e3] } })
    .sound(1, 0, 1_440)
    .also(render(456), render(48))
    .text({ type: 'x_dramatis.action_off', action_id: 'act_2', because: 'barge_in' })
    .end(1)
    .also(render(936), render(24)).steps,
  'acts at once in a reply that says nothing': new Server()
    .text({ type: 'response.created', response: { id: 'resp_1' } })
    .text({
      type: 'x_dramatis.action',
      response_id: 'resp_1',
      item_id: null,
      action_id: 'act_1',
      name: 'nod',
      args: {},
      text: 'nods',
      start_ms: 0,
      samples: 0,
    })
    .done(1, 'completed').steps,
  'counts as heard what has left the buffers of the engine': new Server()
    .begin(1)
    .of(1, 'x_dramatis.visemes', shapes)
    .of(1, 'x_dramatis.cue', { kind: 'action', text: 'nods', start_ms: 30, samples: 720 })
    .sound(1, 0, 1_440)
    .also({ do: 'latency', samples: 480 }, render(480))
    .mouth(240)
    .also(render(240))
    .mouth(240)
    .also(render(240), render(240))
    .end(1)
    .begin(2)
    .sound(2, 0, 480)
    .also(render(600), render(240), { do: 'interrupt' }, render(960)).steps,
  'knows no shapes where only the loudness is known': new Server()
    .begin(1)
    .of(1, 'x_dramatis.visemes', { basis: 'level', from: 0, visemes: [] })
    .sound(1, 0, 480)
    .also(render(240))
    .mouth(240)
    .of(1, 'x_dramatis.visemes', { basis: 'engine', from: 480, until: 960, visemes: [[480, 'aa']] })
    .mouth(240, 479, 480, 700, 960).steps,
  'sends what the user says in numbered frames, and drops what the server has': new Server()
    .also({ do: 'audio', pcm16: piece }, { do: 'audio', pcm16: piece }, { do: 'wait', ms: 2_000 })
    .raw({ type: 'x_dramatis.ack', x_ack: 2, x_kept: 1 })
    .resumed(1)
    .also({ do: 'wait', ms: 2_000 }).steps,
  ...playerCases,
  'redials if three beats get no answer': new Server()
    .raw({ type: 'x_dramatis.ack', x_ack: 0 })
    .also({ do: 'wait', ms: 2_000 }, { do: 'wait', ms: 2_000 }, { do: 'wait', ms: 2_000 }, { do: 'wait', ms: 2_000 })
    .raw({ type: 'x_dramatis.resumed', received: 0 }).steps,
  'waits longer and longer for a server that is away or full': new Server()
    .also({ do: 'lost', code: 1013 }, { do: 'wait', ms: 500 }, { do: 'lost', code: 1006 }, { do: 'wait', ms: 999 })
    .also({ do: 'wait', ms: 1 })
    .raw({ type: 'x_dramatis.resumed', received: 0 })
    .text({ type: 'x_dramatis.warning', code: 'memory_not_stored', message: 'The disk is full.' })
    .also({ do: 'lost', code: 4002 }).steps,
  'does not come back after a refusal': new Server()
    .text({ type: 'error', error: { type: 'invalid_request_error', code: 'invalid_api_key', message: 'no' } })
    .also({ do: 'lost', code: 1008 }, { do: 'wait', ms: 9_000 }, { do: 'say', text: 'Hello?' }).steps,
  'leaves the session to another client that resumed it': new Server()
    .begin(1)
    .sound(1, 0, 480)
    .also(render(240), { do: 'lost', code: 4001 }, { do: 'wait', ms: 9_000 }).steps,
  'closes for good': new Server().begin(1).also({ do: 'close' }, { do: 'wait', ms: 9_000 }).steps,
};
