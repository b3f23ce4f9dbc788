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
  input_audio_too_fast: ['rate_limit_error', 'The audio buffer of the server is full. Send audio at real-time speed.'],
  input_audio_too_long: ['invalid_request_error', 'One utterance is over ten minutes long. Commit or clear it.'],
  item_not_found: ['invalid_request_error', 'No item has this id. It may have been deleted.'],
  item_retrieve_invalid_item_id: ['invalid_request_error', 'No item has this id. It may have been deleted.'],
  item_exists: ['invalid_request_error', 'An item with this id already exists. Choose another id.'],
  item_not_spoken: ['invalid_request_error', 'Only spoken items of the assistant can be truncated.'],
  conversation_full: [
    'invalid_request_error',
    'The conversation has reached its limit of items or of text. Delete some items, or open a new session.',
  ],
  conversation_already_has_active_response: [
    'invalid_request_error',
    'A response is already in progress. Cancel it, or wait for its `response.done`.',
  ],
  too_many_responses: [
    'rate_limit_error',
    'Too many responses out of band (`conversation: "none"`) at once. Wait for one to end, or cancel it.',
  ],
  world_full: [
    'invalid_request_error',
    'The world of the game has reached its limit of objects or of tokens, and was not changed. Remove something from it.',
  ],
  unknown_trigger: [
    'invalid_request_error',
    'The scene has no trigger of this name. The message lists those that it has.',
  ],
  trigger_not_open: [
    'invalid_request_error',
    'No edge of the present section of the scene waits for this trigger. Send it in a section that has one.',
  ],
  unknown_player: [
    'invalid_request_error',
    'The session has no player of this number. Name them with `session.update`, in `x_dramatis.players`.',
  ],
  not_present: [
    'invalid_request_error',
    'A listener or a speaker in `hears` is not present in the session. Name those of its cast by their ids, and `user`.',
  ],
  action_not_found: ['invalid_request_error', 'No recent action has this id.'],
  response_cancel_not_active: [
    'invalid_request_error',
    'No response is in progress, so there is nothing to cancel. This error can be ignored.',
  ],
  low_confidence: ['recognition_error', 'The speech was not understood. Speak again, closer to the microphone.'],
  language_not_supported: [
    'recognition_error',
    'The recognizer does not support the language. Configure one that does (README, “Languages”).',
  ],
  ENGINE_UNAVAILABLE: ['server_error', 'An engine cannot be reached. Run `dramatis doctor`.'],
  ENGINE_TIMEOUT: ['server_error', 'An engine did not respond in time. Try again, or raise its timeout if it is slow.'],
  ENGINE_BAD_REPLY: ['server_error', 'An engine sent an unusable response. Check its URL and model.'],
  ENGINE_REFUSED: ['server_error', 'An engine rejected the request. Check its key and model name.'],
  ENGINE_MISSING: ['server_error', 'An engine is not installed. The message says which and how to install it.'],
  ENGINE_NOT_RECORDED: [
    'server_error',
    'The cassette has no answer to this request. Delete the file, and record again with the engines.',
  ],
  unknown_character: ['invalid_request_error', 'No character has this id. `GET /characters` lists them.'],
  unknown_scene: ['invalid_request_error', 'No scene has this id. `GET /characters` lists them as `scene:ID`.'],
  character_read_only: [
    'invalid_request_error',
    'Only imported characters can be changed. Export it, and import it under another id.',
  ],
  character_not_yours: [
    'authentication_error',
    'The character belongs to another key, or to the operator. Copy it, and change the copy.',
  ],
  character_exists: [
    'invalid_request_error',
    'A character with this id already exists. Rename the card, or edit the existing character.',
  ],
  character_changed: [
    'invalid_request_error',
    'Someone else changed the character after you read it. Read it again, or save yours as a copy.',
  ],
  character_in_scene: ['invalid_request_error', 'A scene uses this character. Remove the scene first.'],
  character_card_invalid: [
    'invalid_request_error',
    'The card cannot be read or is invalid. The message names the field.',
  ],
  character_card_too_large: [
    'invalid_request_error',
    'The card takes too much time or memory. Remove greetings, lore entries or files from it.',
  ],
  character_quota_exceeded: [
    'invalid_request_error',
    'The server keeps no more imported characters. Delete some, or raise DRAMATIS_MAX_CHARACTERS or DRAMATIS_MAX_CHARACTERS_MB.',
  ],
  invalid_api_key: ['authentication_error', 'Send a key of DRAMATIS_API_KEYS as `Authorization: Bearer KEY`.'],
  client_secret_expired: ['authentication_error', 'The client secret is unknown or has expired. Make a new one.'],
  server_key_needed: [
    'authentication_error',
    'A client secret only opens conversations. Send a key of DRAMATIS_API_KEYS for anything else.',
  ],
  character_not_allowed: [
    'invalid_request_error',
    'The client secret was made for another character. Make one for this character, or leave `model` out.',
  ],
  rate_limit_exceeded: ['rate_limit_error', 'The rate limit was exceeded. Wait a moment, then send more slowly.'],
  too_many_sessions: ['rate_limit_error', 'This key or address has reached its session limit. Close a session first.'],
  too_many_requests: [
    'rate_limit_error',
    'This key has reached its limit of concurrent requests. Wait until one has finished.',
  ],
  too_many_client_secrets: [
    'rate_limit_error',
    'There are too many client secrets, or they are too large. Wait until some expire, or give them shorter lives.',
  ],
  origin_not_allowed: ['authentication_error', 'This web origin is not allowed. Add it to DRAMATIS_ALLOWED_ORIGINS.'],
  host_not_allowed: [
    'invalid_request_error',
    'A server without keys answers to names of its own machine only. Set DRAMATIS_API_KEYS or DRAMATIS_ALLOWED_HOSTS.',
  ],
  invalid_twilio_signature: [
    'authentication_error',
    'The signature of the call does not match DRAMATIS_TWILIO_AUTH_TOKEN and this address. Check both.',
  ],
  server_busy: ['server_error', 'The server is at capacity. Try again later.'],
  session_not_resumable: [
    'invalid_request_error',
    'The session cannot be resumed, because it has ended. Open a new one.',
  ],
  resume_not_allowed: [
    'authentication_error',
    'The resume token belongs to a session of another key, user or character. Open a new session.',
  ],
  webrtc_unavailable: [
    'server_error',
    'The server has no UDP address for the call. Check its WebRTC settings (README, “Calls”).',
  ],
  server_draining: ['server_error', 'The server is shutting down. Connect again in a moment.'],
  store_unavailable: ['server_error', 'The store that the nodes share does not answer. Connect again in a moment.'],
  session_expired: ['invalid_request_error', 'The session reached its time limit. Open a new one.'],
  audio_file_not_found: ['invalid_request_error', 'The recording does not exist. Check the path.'],
  audio_file_empty: ['invalid_request_error', 'The recording contains no audio. Record it again.'],
  audio_file_too_large: ['invalid_request_error', 'The recording is too large. Cut it into parts, or compress it.'],
  audio_file_too_long: ['invalid_request_error', 'The recording is too long. Cut it into parts.'],
  audio_file_unreadable: ['invalid_request_error', 'The file is not a readable recording. Convert it to WAV.'],
  audio_file_timeout: ['invalid_request_error', 'Decoding the recording took too long. Convert it to 16-bit WAV.'],
  voice_not_found: ['invalid_request_error', 'The voice does not exist. `dramatis voices list` lists them.'],
  voice_invalid: ['invalid_request_error', 'The name or the files of the voice are invalid. The message says which.'],
  voice_consent_missing: [
    'invalid_request_error',
    'Cloning a voice requires consent. State it with `--consent`, or with `consent` in the engines file.',
  ],
  voice_not_usable: [
    'invalid_request_error',
    'The voice has no usable reference clip. The message says why and what to do.',
  ],
  voice_in_use: ['invalid_request_error', 'Another process is using the voice. Wait for it to finish, or stop it.'],
  memory_off: ['invalid_request_error', 'Memory is disabled on this server. Enable it with DRAMATIS_MEMORY.'],
  memory_unavailable: [
    'server_error',
    'The memory database cannot be read; conversations continue without it. See the server’s log.',
  ],
  memory_not_found: ['invalid_request_error', 'This user has no memory with this id. It may have been deleted.'],
  save_invalid: [
    'invalid_request_error',
    'This is not a save of this server, or it was changed. Load it unchanged, on a server with the same DRAMATIS_SAVE_KEY.',
  ],
  save_too_new: ['invalid_request_error', 'The save was made by a newer version of Dramatis. Update this server.'],
  save_too_large: [
    'invalid_request_error',
    'The user has more data than a save may hold. Erase memories that the game does not need, or copy the database instead.',
  ],
  user_not_allowed: [
    'invalid_request_error',
    'The session or client secret belongs to another user, or to none. Make a client secret for this user.',
  ],
  session_not_stored: [
    'server_error',
    'The session cannot be stored at the moment, and would not survive a restart of the server. See its log.',
  ],
  memory_not_stored: [
    'server_error',
    'The conversation cannot be stored at the moment, and may not be remembered. See the server’s log.',
  ],
  report_not_stored: ['server_error', 'Reports cannot be stored at the moment. See the server’s log.'],
  reports_off: ['invalid_request_error', 'This server keeps no reports. Enable them with DRAMATIS_REPORTS.'],
  too_many_reports: ['rate_limit_error', 'The session has sent its maximum number of reports. Open another session.'],
  model_unknown: ['server_error', 'The model does not exist. `dramatis models list` lists them.'],
  model_not_published: ['server_error', 'These weights are not published. The message says what to do instead.'],
  model_catalogue_invalid: ['server_error', 'The model catalogue is invalid. The message names the faulty entry.'],
  model_download_failed: [
    'server_error',
    'The weights could not be downloaded. Run the command again; it resumes the download.',
  ],
  model_server_busy: [
    'server_error',
    'The server of the weights is busy. Run the command again later; it resumes the download.',
  ],
  model_proxy_failed: [
    'server_error',
    'The proxy blocked the download. Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY; the message gives the cause.',
  ],
  model_corrupt: [
    'server_error',
    'The weights are damaged, or do not match the expected hash. Nothing was installed. Pull them again.',
  ],
  model_disk_full: ['server_error', 'The disk is full. Free some space, or point DRAMATIS_DATA_DIR at another disk.'],
  model_in_use: ['server_error', 'Another process is using the model. Wait for it to finish, or stop it.'],
  model_not_installed: ['server_error', 'The model is not installed. Install it with `dramatis models pull`.'],
  client_too_slow: [
    'invalid_request_error',
    'The client reads too slowly, so the connection was closed. Read faster, or reconnect.',
  ],
  not_found: ['invalid_request_error', 'The server has no such path. The README lists the paths.'],
  internal_error: ['server_error', 'An unexpected error occurred. The session continues; see the server’s log.'],
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
