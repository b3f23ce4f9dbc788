## A character of a Dramatis server: its voice comes from here. Connect the signals, call `say`, or switch the microphone on
## (project setting `audio/driver/enable_input`).
extends AudioStreamPlayer

const Talk := preload("talk.gd")
const VisemeTables := preload("viseme_tables.gd")
const Wire := preload("wire.gd")
## Sound that waits in Godot's own buffer. More is safer if frames take long; what is said stops at once all the same.
const BUFFER_S := 0.1
const MICROPHONE_BUS := &"DramatisMicrophone"
const INBOUND_BYTES := 4 * 1024 * 1024
const OUTBOUND_BYTES := 1024 * 1024
const MOST_QUEUED := 4096

## Words of the character, as they come.
signal says(text: String)
## A cue or an action, as its word is heard: an event of the server.
signal acts(event: Dictionary)
## What the user said.
signal heard(text: String)
## Every event of the server, except sound.
signal received(event: Dictionary)
## kind: `connecting`, `open` (is_new, is_restarted, lost_ms), `lost`, `refused`, `replaced` or `closed`.
signal connection_changed(change: Dictionary)

## Address of the server; wss:// outside this machine.
@export var url := "ws://localhost:8080"
@export var character := "alice"
## A client secret from your own server; empty for a server on this machine.
@export var key := ""
## Opens the microphone if it is true from the start; may be switched off and on later.
@export var listens_to_microphone := false

var talk := Talk.new()

var _socket: WebSocketPeer
var _capture: AudioEffectCapture
var _microphone_position := 0.0
var _microphone_last := 0.0
var _output_latency_s := 0.0
## Samples that the generator's buffer takes.
var _capacity := 0
var _latency_age_s := INF


func _ready() -> void:
	var generator := AudioStreamGenerator.new()
	generator.mix_rate = Wire.SAMPLE_RATE
	generator.buffer_length = 2.0 * BUFFER_S
	stream = generator
	play()
	talk.link.character = character
	talk.link.key = key
	talk.link.dialed.connect(_dial)
	talk.link.hung_up.connect(_hang_up)
	talk.link.sent.connect(_send)
	talk.received.connect(_on_received)
	talk.due.connect(func(told: Dictionary) -> void: acts.emit(told))
	talk.connection_changed.connect(func(change: Dictionary) -> void: connection_changed.emit(change))
	talk.player.noted.connect(_on_noted)
	if listens_to_microphone:
		_open_microphone()
	talk.link.open()


func _exit_tree() -> void:
	talk.link.close()


func _process(delta: float) -> void:
	_pump_socket()
	_pump_microphone()
	_pump_speaker(delta)
	talk.update(delta * 1000.0)


## Says something to the character in text, for one of several players if given; interrupts it.
func say(text: String, player := -1) -> bool:
	return talk.say(text, player)


## Sends what a microphone of your own, or of one of several players, hears: 16-bit little-endian mono at 24 kHz.
func send_audio(pcm16: PackedByteArray, player := 0) -> bool:
	return talk.link.send_audio(pcm16, player)


func interrupt() -> void:
	talk.interrupt()


## The weights of the mouth now in a table such as `VisemeTables.VRM`. Null: only the loudness is known.
func mouth(table: Dictionary = VisemeTables.VRM) -> Variant:
	var shapes: Variant = talk.player.lips.weights()
	return null if shapes == null else VisemeTables.mixed(table, shapes)


func _dial(query: String, protocols: PackedStringArray) -> void:
	if _socket != null:
		_socket.close(4000)
	_socket = WebSocketPeer.new()
	_socket.inbound_buffer_size = INBOUND_BYTES
	_socket.outbound_buffer_size = OUTBOUND_BYTES
	_socket.max_queued_packets = MOST_QUEUED
	_socket.supported_protocols = protocols
	var address := "ws" + url.trim_prefix("http") if url.begins_with("http") else url
	if _socket.connect_to_url(address + "/v1/realtime?" + query) != OK:
		# Not from within the call that dials.
		_socket_closed.call_deferred(1006)


func _hang_up(code: int) -> void:
	_socket.close(code)
	_socket = null


func _send(data: Variant) -> void:
	if data is String:
		_socket.send_text(data)
	else:
		_socket.send(data)


func _pump_socket() -> void:
	var current := _socket
	if current == null:
		return
	current.poll()
	# A frame may make the talk dial again: what the old socket still holds means nothing then.
	while current == _socket and current.get_available_packet_count() > 0:
		var packet := current.get_packet()
		if current.was_string_packet():
			talk.link.receive_text(packet.get_string_from_utf8())
		else:
			talk.link.receive_bytes(packet)
	if current == _socket and current.get_ready_state() == WebSocketPeer.STATE_CLOSED:
		_socket_closed(current.get_close_code())


func _socket_closed(code: int) -> void:
	_socket = null
	talk.link.dialer.socket_closed(code if code > 0 else 1006)


func _pump_speaker(delta: float) -> void:
	var playback := get_stream_playback() as AudioStreamGeneratorPlayback
	if playback == null:
		return
	_latency_age_s += delta
	if _latency_age_s > 1.0:
		_latency_age_s = 0.0
		_output_latency_s = AudioServer.get_output_latency()
	var free := playback.get_frames_available()
	# Right after `play` all of it is free.
	_capacity = maxi(_capacity, free)
	var wanted := int(BUFFER_S * Wire.SAMPLE_RATE) - (_capacity - free)
	if wanted > 0:
		playback.push_buffer(talk.player.speaker.render(wanted))
	var queued := _capacity - playback.get_frames_available()
	talk.player.speaker.latency_samples = queued + int(_output_latency_s * Wire.SAMPLE_RATE)


func _on_noted(kind: String, _item_id: String, _samples: int, _pcm16: PackedByteArray) -> void:
	if kind == "stop":
		# What waits in the buffer must not be heard.
		stop()
		play()


func _on_received(told: Dictionary) -> void:
	match told.type:
		"response.output_audio_transcript.delta":
			says.emit(told.delta)
		"conversation.item.input_audio_transcription.completed":
			heard.emit(told.transcript)
	received.emit(told)


## A silent bus that keeps what the microphone hears.
func _open_microphone() -> void:
	var index := AudioServer.get_bus_index(MICROPHONE_BUS)
	if index < 0:
		index = AudioServer.bus_count
		AudioServer.add_bus()
		AudioServer.set_bus_name(index, MICROPHONE_BUS)
		AudioServer.set_bus_mute(index, true)
		var capture := AudioEffectCapture.new()
		# A frame may take long; what the user says meanwhile must not be lost.
		capture.buffer_length = 1.0
		AudioServer.add_bus_effect(index, capture)
	_capture = AudioServer.get_bus_effect(index, 0)
	var source := AudioStreamPlayer.new()
	source.stream = AudioStreamMicrophone.new()
	source.bus = MICROPHONE_BUS
	add_child(source)
	source.play()


## From the rate of the engine to 24 kHz, by straight lines between samples.
func _pump_microphone() -> void:
	if _capture == null:
		return
	var frames := _capture.get_buffer(_capture.get_frames_available())
	if not listens_to_microphone:
		return
	var step := AudioServer.get_mix_rate() / Wire.SAMPLE_RATE
	var pcm16 := PackedByteArray()
	pcm16.resize(2 * int(ceil((frames.size() - _microphone_position) / step)) if frames.size() > _microphone_position else 0)
	for index in pcm16.size() >> 1:
		var position := _microphone_position + index * step
		var before := int(position)
		var first := _microphone_last if before == 0 else frames[before - 1].x
		var level := lerpf(first, frames[before].x, position - before)
		pcm16.encode_s16(2 * index, clampi(roundi(level * 32768.0), -32768, 32767))
	_microphone_position += (pcm16.size() >> 1) * step - frames.size()
	if not frames.is_empty():
		_microphone_last = frames[-1].x
		send_audio(pcm16)
