## Numbers frames in both directions over one socket after another and resumes after a loss, so that each arrives exactly once
## and in order. Opens a new session if the old one is gone.
extends RefCounted

const Dialer := preload("dialer.gd")
const Outbox := preload("outbox.gd")
const Wire := preload("wire.gd")
const EXTENSIONS := "binary,resume,hold,nod,notice,voice,cues,visemes"

## Opens a socket to /v1/realtime with this query, and forgets the one before.
signal dialed(query: String, protocols: PackedStringArray)
signal hung_up(code: int)
## A text or bytes.
signal sent(data: Variant)
signal taken(told: Dictionary)
signal sounded(response_id: String, item_id: String, offset: int, pcm16: PackedByteArray)
signal changed(change: Dictionary)

## Id of the character, such as `alice`.
var character := ""
## A client secret; ship no API key in a game.
var key := ""
var dialer := Dialer.new()

var _outbox := Outbox.new()
var _token := ""
var _received := 0
## The next number may be any: the server was restarted.
var _may_jump := false
var _is_open := false
var _is_ours := false
var _is_binary := false
## By player.
var _sent_samples := {}
var _had_here := 0
var _had_there := 0
## Of each reply by its number in binary frames: response, item.
var _replies := {}
var _received_samples := {}


func _init() -> void:
	dialer.dialed.connect(_dial)
	dialer.hung_up.connect(func(code: int) -> void: hung_up.emit(code))
	dialer.changed.connect(_on_changed)
	dialer.beat.connect(_on_beat)


func open() -> void:
	changed.emit({"kind": "connecting"})
	dialer.open()


func close() -> void:
	_token = ""
	_is_open = false
	if dialer.close():
		changed.emit({"kind": "closed"})


## Sends an event, now or after reconnecting. False if there is no session.
func send(told: Dictionary) -> bool:
	if not _has_session():
		return false
	_push(0.0, func(number: int) -> String: return _numbered(told, number))
	return true


## Sends an event now or never.
func mention(told: Dictionary) -> void:
	if _is_open and _is_ours:
		_give(_numbered(told, 0))


func send_audio(pcm16: PackedByteArray, player := 0) -> bool:
	if not _has_session():
		return false
	var offset: int = _sent_samples.get(player, 0)
	_sent_samples[player] = offset + (pcm16.size() >> 1)
	_push((pcm16.size() >> 1) * 1000.0 / Wire.SAMPLE_RATE, func(number: int) -> Variant:
		if number > 0 and _is_binary:
			return Wire.encode(number, offset, pcm16, player)
		var told := {"type": "input_audio_buffer.append", "audio": Marshalls.raw_to_base64(pcm16)}
		if player != 0:
			told["x_dramatis"] = {"player": player}
		return _numbered(told, number))
	return true


func receive_text(text: String) -> void:
	dialer.note_frame()
	var told: Variant = JSON.parse_string(text)
	if told is Dictionary and told.get("type") is String:
		_handle(told)


func receive_bytes(bytes: PackedByteArray) -> void:
	dialer.note_frame()
	var frame := Wire.decode(bytes)
	if frame.is_empty() or not _is_next(frame.sequence) or not _replies.has(frame.number):
		return
	var reply: Dictionary = _replies[frame.number]
	sounded.emit(reply.response, reply.item, frame.offset, frame.pcm16)


func _has_session() -> bool:
	return _token != "" or _is_open


## As JSON with sequence number (unless 0) and what has been received.
func _numbered(told: Dictionary, number: int) -> String:
	if _token == "":
		return Wire.text_of(told)
	var copy := told.duplicate()
	if number > 0:
		copy["x_seq"] = number
	copy["x_ack"] = _received
	return Wire.text_of(copy)


func _push(audio_ms: float, write: Callable) -> void:
	if _token == "":
		_give(write.call(0))
		return
	_outbox.add(audio_ms, write)
	_pump()


func _give(data: Variant) -> void:
	if dialer.has_socket:
		sent.emit(data)


func _pump() -> void:
	while _is_open:
		var data: Variant = _outbox.next()
		if data == null:
			return
		_give(data)


func _dial() -> void:
	var query := "model=%s&x=%s" % [character.uri_encode(), EXTENSIONS]
	if _token != "":
		query = "x=%s&after=%d" % [EXTENSIONS, _received]
	var protocols := PackedStringArray(["realtime"])
	# A browser lets nobody set headers, so the key is a subprotocol everywhere.
	if key != "":
		protocols.append("openai-insecure-api-key." + key)
	if _token != "":
		protocols.append("dramatis-resume." + _token)
	dialed.emit(query, protocols)


func _on_changed(change: Dictionary) -> void:
	_is_open = false
	if change.kind != "lost":
		_token = ""
	changed.emit(change)


func _on_beat() -> void:
	if _token != "":
		mention({"type": "x_dramatis.ack"})
	_pump()


func _handle(told: Dictionary) -> void:
	match told.type:
		"session.created":
			_begin(told.get("session"))
		"x_dramatis.resumed":
			_resume(told)
			return
		"x_dramatis.ack":
			dialer.note_answer()
			if told.has("x_ack"):
				_outbox.acknowledge(int(told.x_ack), int(Wire.number(told, "x_kept", told.x_ack)))
			_pump()
			return
		"error":
			if Wire.text(told, "error/code") in ["session_not_resumable", "resume_not_allowed"]:
				_token = ""
				dialer.redial()
				return
			dialer.note_error(told.get("error"))
	if told.has("x_seq") and not _is_next(int(told.x_seq)):
		return
	if told.type == "response.output_audio.delta":
		_take_delta(told)
		return
	_name(told)
	taken.emit(told)


func _begin(session: Variant) -> void:
	var extensions: Variant = Wire.of(session, "x_dramatis/extensions")
	_token = Wire.text(session, "x_dramatis/resume/token")
	_received = 0
	_may_jump = false
	_is_ours = extensions is Array and not extensions.is_empty()
	_is_binary = _is_ours and "binary" in extensions
	_replies.clear()
	_had_here = 0
	_had_there = 0
	_opened(true, false, _outbox.reset())


func _resume(told: Dictionary) -> void:
	var is_restarted: bool = told.get("restarted", false)
	var processed := int(Wire.number(told, "received"))
	if is_restarted:
		_may_jump = true
	var is_unknown := is_restarted and told.get("received") == null
	_opened(false, is_restarted, _outbox.restart() if is_unknown else _outbox.resume(processed))
	if _received > _had_here or processed > _had_there:
		dialer.note_traffic()
	_had_here = _received
	_had_there = processed


func _opened(is_new: bool, is_restarted: bool, lost_ms: float) -> void:
	dialer.establish()
	_is_open = true
	changed.emit({"kind": "open", "is_new": is_new, "is_restarted": is_restarted, "lost_ms": lost_ms})
	dialer.start_beats()
	_pump()


## True if this frame is the next one. A gap is filled by the next connection.
func _is_next(sequence: int) -> bool:
	if sequence <= _received:
		return false
	if sequence > _received + 1 and not _may_jump:
		dialer.redial()
		return false
	_received = sequence
	_may_jump = false
	return true


## Notes which reply a number in a binary frame stands for.
func _name(told: Dictionary) -> void:
	match told.type:
		"response.created":
			var number: Variant = Wire.of(told, "response/x_dramatis/number")
			if number != null:
				_replies[int(number)] = {"response": Wire.text(told, "response/id"), "item": ""}
		"response.output_item.added":
			for reply: Dictionary in _replies.values():
				if reply.response == told.response_id:
					reply.item = Wire.text(told, "item/id")
		"response.done":
			for number: int in _replies.keys():
				if _replies[number].response == Wire.text(told, "response/id"):
					_replies.erase(number)


func _take_delta(told: Dictionary) -> void:
	var pcm16 := Marshalls.base64_to_raw(told.delta)
	var offset: int = _received_samples.get(told.item_id, 0)
	_received_samples[told.item_id] = offset + (pcm16.size() >> 1)
	sounded.emit(told.response_id, told.item_id, offset, pcm16)
