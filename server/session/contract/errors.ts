/**
 * Every error code a client can receive, with its remedy. A test checks the table in `ERRORS.md` against this one.
 * `invalid_request_error` and the like are the types of OpenAI's error object.
 */
export const errorTable = {
  invalid_json: ['invalid_request_error', 'The message is not valid JSON. Send one JSON object per text frame.'],
  invalid_event: ['invalid_request_error', 'A field is missing or of the wrong type. `param` names it.'],
  unknown_event_type: ['invalid_request_error', 'The event type is not one a client may send. Check its spelling.'],
  binary_not_supported: [
    'invalid_request_error',
    'Send audio as base64 in `input_audio_buffer.append`, or in the binary frames of `server/client/README.md`.',
  ],
  invalid_audio: [
    'invalid_request_error',
    'Audio must be base64 of the session’s format: 16-bit little-endian mono PCM at 24 kHz by default. A binary frame of Opus holds one packet.',
  ],
  unsupported_audio_format: [
    'invalid_request_error',
    'Formats are `audio/pcm` at 24000 Hz, `audio/pcmu` and `audio/pcma`. Convert first.',
  ],
  invalid_value: ['invalid_request_error', 'A value is outside its range. `param` names it.'],
  invalid_intent: [
    'invalid_request_error',
    'A transcription session makes no responses. Open a session without `?intent=transcription`.',
  ],
  text_too_long: ['invalid_request_error', 'The text is longer than the limit. Send less, or in parts.'],
  message_too_large: ['invalid_request_error', 'The frame is over the size limit. Send audio in shorter pieces.'],
  input_audio_buffer_commit_empty: ['invalid_request_error', 'There is no audio to commit. Append some first.'],
  input_audio_too_fast: [
    'rate_limit_error',
    'More audio is waiting than the server keeps. Send it at the pace of speech.',
  ],
  input_audio_too_long: ['invalid_request_error', 'One utterance is over ten minutes long. Commit or clear it.'],
  item_not_found: ['invalid_request_error', 'No item has this id. It may have been deleted.'],
  item_retrieve_invalid_item_id: ['invalid_request_error', 'No item has this id. It may have been deleted.'],
  item_exists: ['invalid_request_error', 'An item with this id is already there. Choose another id.'],
  item_not_spoken: ['invalid_request_error', 'Only spoken items of the assistant can be truncated.'],
  conversation_full: ['invalid_request_error', 'The conversation holds its limit of items. Delete some or start anew.'],
  conversation_already_has_active_response: [
    'invalid_request_error',
    'A response is already being made. Cancel it or wait for its `response.done`.',
  ],
  response_cancel_not_active: ['invalid_request_error', 'There is no response to cancel. Harmless.'],
  low_confidence: ['recognition_error', 'The speech was not understood. Speak again, closer to the microphone.'],
  language_not_supported: [
    'recognition_error',
    'The recognizer does not know the language. Configure one that does (README, “Languages”).',
  ],
  ENGINE_UNAVAILABLE: ['server_error', 'An engine cannot be reached. Run `dramatis doctor`.'],
  ENGINE_TIMEOUT: ['server_error', 'An engine took too long. Try again; raise its timeout if it is just slow.'],
  ENGINE_BAD_REPLY: [
    'server_error',
    'An engine answered with something unusable. Check that its URL and model are right.',
  ],
  ENGINE_REFUSED: ['server_error', 'An engine refused the request. Check its key and model name.'],
  ENGINE_MISSING: ['server_error', 'An engine is not installed. The message says which and how to install it.'],
  unknown_character: ['invalid_request_error', 'No character has this id. `GET /characters` lists them.'],
  unknown_scene: ['invalid_request_error', 'No scene has this id. `GET /characters` lists them as `scene:ID`.'],
  character_read_only: [
    'invalid_request_error',
    'Only imported characters can be changed. Export it, and import it under another id.',
  ],
  character_exists: ['invalid_request_error', 'A character of this id is there. Rename the card, or change that one.'],
  character_changed: [
    'invalid_request_error',
    'Somebody else changed the character since you read it. Read it again, or save yours as a copy.',
  ],
  character_in_scene: ['invalid_request_error', 'A scene needs this character. Remove the scene first.'],
  character_card_invalid: [
    'invalid_request_error',
    'The card cannot be read or played. The message names the place in it.',
  ],
  invalid_api_key: ['authentication_error', 'Send a key of DRAMATIS_API_KEYS as `Authorization: Bearer KEY`.'],
  client_secret_expired: ['authentication_error', 'The client secret is unknown or has expired. Make a new one.'],
  server_key_needed: [
    'authentication_error',
    'A client secret opens conversations only. Send a key of DRAMATIS_API_KEYS for anything else.',
  ],
  character_not_allowed: [
    'invalid_request_error',
    'The client secret was made for another character. Make one for this character, or leave `model` out.',
  ],
  rate_limit_exceeded: ['rate_limit_error', 'Too much at a time. Wait a moment, then go on more slowly.'],
  too_many_sessions: ['rate_limit_error', 'This key or address holds all the sessions it may. Close one first.'],
  origin_not_allowed: ['authentication_error', 'This web origin may not connect. Add it to DRAMATIS_ALLOWED_ORIGINS.'],
  invalid_twilio_signature: [
    'authentication_error',
    'The call is not signed by the Twilio account of DRAMATIS_TWILIO_AUTH_TOKEN for this address. Check both.',
  ],
  server_busy: ['server_error', 'All places are taken. Try again later.'],
  session_not_resumable: ['invalid_request_error', 'The session to go on with is gone. Open a new one.'],
  webrtc_unavailable: [
    'server_error',
    'The server found no UDP address for the call. Its operator checks the WebRTC settings (README, “Calls”).',
  ],
  server_draining: ['server_error', 'The server is about to stop. Connect again in a moment.'],
  session_expired: ['invalid_request_error', 'The session reached its time limit. Open a new one.'],
  audio_file_not_found: ['invalid_request_error', 'There is no such recording. Check the path.'],
  audio_file_empty: ['invalid_request_error', 'The recording holds no sound. Record it again.'],
  audio_file_too_large: ['invalid_request_error', 'The recording is too large. Cut it into parts, or compress it.'],
  audio_file_too_long: ['invalid_request_error', 'The recording is too long. Cut it into parts.'],
  audio_file_unreadable: ['invalid_request_error', 'This is no recording that can be read. Convert it to WAV.'],
  audio_file_timeout: ['invalid_request_error', 'Reading the recording took too long. Convert it to 16-bit WAV.'],
  voice_not_found: ['invalid_request_error', 'There is no such voice. `dramatis voices list` lists them.'],
  voice_invalid: [
    'invalid_request_error',
    'A voice’s files are not what Dramatis writes, or its name is none. The message says which.',
  ],
  voice_consent_missing: [
    'invalid_request_error',
    'A voice is cloned only with consent. Record it with `--consent`, or `consent` in the engines file.',
  ],
  voice_not_usable: [
    'invalid_request_error',
    'The voice has no clip that may be cloned. The message says why, and what would help.',
  ],
  voice_in_use: ['invalid_request_error', 'Another process is at work on the voice. Wait for it, or end it.'],
  memory_off: [
    'invalid_request_error',
    'This server keeps no memories. Its operator switches them on: DRAMATIS_MEMORY.',
  ],
  memory_unavailable: ['server_error', 'The memories cannot be read; talk goes on without. The server’s log says why.'],
  memory_not_found: ['invalid_request_error', 'This user has no memory of this id. It may have been deleted.'],
  user_not_allowed: [
    'invalid_request_error',
    'The session or client secret is for another user, or for none. Make a client secret for this user.',
  ],
  model_unknown: ['server_error', 'There is no such model. `dramatis models list` lists them.'],
  model_not_published: ['server_error', 'Nobody publishes these weights. The message says what to do instead.'],
  model_catalogue_invalid: [
    'server_error',
    'The catalogue of models cannot be read. The message says where it is wrong.',
  ],
  model_download_failed: [
    'server_error',
    'The weights could not be downloaded. Run the command again; what has come is kept.',
  ],
  model_server_busy: [
    'server_error',
    'The server of the weights is busy. Run the command again later; what has come is kept.',
  ],
  model_proxy_failed: [
    'server_error',
    'The proxy lets no download through. Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY; the message says what it does.',
  ],
  model_corrupt: [
    'server_error',
    'Weights are damaged, or others than expected. Pull them again; nothing wrong was installed.',
  ],
  model_disk_full: ['server_error', 'The disk has no room. Free some, or set DRAMATIS_DATA_DIR elsewhere.'],
  model_in_use: ['server_error', 'Another process is at work on the model. Wait for it, or end it.'],
  model_not_installed: ['server_error', 'The model is not installed. `dramatis models pull` gets it.'],
  client_too_slow: ['invalid_request_error', 'The client does not read what it is sent. The connection is closed.'],
  not_found: ['invalid_request_error', 'There is nothing at this address. The README lists the addresses.'],
  internal_error: ['server_error', 'Something unforeseen. The session goes on; the server’s log says more.'],
} as const satisfies Record<string, readonly [type: string, remedy: string]>;

export type ErrorCode = keyof typeof errorTable;

/** Builds the error object of the OpenAI APIs. */
export function errorObject(
  problem: { readonly code: ErrorCode; readonly message: string; readonly param?: string },
  ref?: string,
): { type: string; code: ErrorCode; message: string; param: string | null; event_id: string | null } {
  return {
    type: errorTable[problem.code][0],
    code: problem.code,
    message: problem.message,
    param: problem.param ?? null,
    event_id: ref ?? null,
  };
}
