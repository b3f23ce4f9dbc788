## Plays replies, tells the server how much of them was heard, and cuts them off when the user speaks.
extends RefCounted

const LipSync := preload("lip_sync.gd")
const Moments := preload("moments.gd")
const Speaker := preload("speaker.gd")
const Wire := preload("wire.gd")
## `event_id` of what the client sends unasked; errors about it mean nothing.
const UNASKED := "unasked"
const REPORT_SAMPLES := 3600

signal sent(told: Dictionary)
## Now or never.
signal mentioned(told: Dictionary)
## `play` (queued), `stop` (silence at once), `cut` (off after so many samples), `ended`.
signal noted(kind: String, item_id: String, samples: int, pcm16: PackedByteArray)

var speaker := Speaker.new()
var lips := LipSync.new()
var moments := Moments.new()
## Ids of the responses that the server makes now.
var active: Array[String] = []

## Of each item: id, response, received, base (received before the last hold; will not be played), held (heard when the last
## hold came; -1 if there was none).
var _items: Array[Dictionary] = []
## Responses that were cut off here while the server still made them.
var _cut := {}
## Responses in progress of which sound has come.
var _begun := {}
var _can_interrupt := true
var _tells_heard := false
var _reported := ""
var _reported_samples := 0


func is_playing() -> bool:
	return speaker.is_playing() or _items.any(func(item: Dictionary) -> bool: return item.held >= 0)


func is_cut(response_id: String) -> bool:
	return _cut.has(response_id)


## Reports what was heard since the last call.
func update() -> void:
	speaker.poll(_on_heard, _on_ended)


func take(told: Dictionary) -> void:
	match told.type:
		"session.created", "session.updated":
			_obey(told.get("session"))
		"input_audio_buffer.speech_started":
			if is_playing() and _can_interrupt:
				cut("", true)
		"x_dramatis.hold":
			_hold()
		"response.output_item.added":
			if Wire.text(told, "item/type") == "message":
				if not is_cut(told.response_id):
					_open(told.item.id, told.response_id)
				elif not _begun.has(told.response_id):
					_truncate(told.item.id, 0)
		"response.output_audio.done":
			speaker.complete(told.item_id)
		"response.done":
			_done(told.response)


func play(item_id: String, response_id: String, pcm16: PackedByteArray) -> void:
	if is_cut(response_id):
		return
	_begun[response_id] = true
	_open(item_id, response_id).received += pcm16.size() >> 1
	speaker.play(item_id, pcm16)
	noted.emit("play", item_id, pcm16.size() >> 1, pcm16)


## Stops at once. `under_way`: the response in progress, of which nothing may have come; empty if there is none.
func cut(under_way: String, tells: bool) -> void:
	var stopped := _items
	_items = []
	var ids := []
	for item in stopped:
		if not item.response in ids:
			ids.append(item.response)
	if under_way != "" and not under_way in ids:
		ids.append(under_way)
	if ids.is_empty():
		return
	for id: String in ids:
		if id in active:
			_cut[id] = true
	lips.stopped(ids)
	moments.forget("response_id", ids)
	var is_unheard := under_way != "" and not _begun.has(under_way)
	var played := _silence() if speaker.is_playing() else {}
	for item in stopped:
		var heard := _heard(item, played.get(item.id, 0))
		_close(item, heard)
		if not tells or (item.received == 0 and item.response != under_way):
			continue
		if item.received > 0:
			_report(item.response, heard, true, false)
		_truncate(item.id, heard)
	if tells and is_unheard:
		_report(under_way, 0, true, false)


## The session is gone.
func abandon() -> void:
	cut("", false)
	_cut.clear()
	_begun.clear()


func _heard(item: Dictionary, played: int) -> int:
	var heard: int = item.base + played if played > 0 else (item.held if item.held >= 0 else item.base)
	return mini(heard, item.received)


func _silence() -> Dictionary:
	noted.emit("stop", "", 0, PackedByteArray())
	return speaker.stop()


func _close(item: Dictionary, heard: int) -> void:
	lips.ended(item.id)
	moments.forget("item_id", [item.id])
	noted.emit("cut", item.id, heard, PackedByteArray())


## The user makes a sound: sound that was not heard is dropped; the server sends it again.
func _hold() -> void:
	var played := _silence()
	for item: Dictionary in _items.duplicate():
		if item.received == item.base:
			continue
		var heard := _heard(item, played.get(item.id, 0))
		item.base = item.received
		item.held = heard
		_report(item.response, heard, true, true)
		if not item.response in active:
			_end_held(item)


func _end_held(item: Dictionary) -> void:
	_items.erase(item)
	var heard := _heard(item, 0)
	_close(item, heard)
	_truncate(item.id, heard)


func _on_heard(item_id: String, played: int) -> void:
	var item := _find(item_id)
	if item.is_empty():
		return
	var heard: int = played + item.base
	_tell(item.response, heard, false)
	lips.heard(item_id, item.response, heard)
	moments.heard(item_id, item.response, heard)


func _on_ended(item_id: String) -> void:
	var item := _find(item_id)
	if item.is_empty():
		return
	_items.erase(item)
	_tell(item.response, item.received, true)
	lips.ended(item_id)
	moments.heard(item_id, item.response, INF)
	noted.emit("ended", item_id, item.received, PackedByteArray())


func _done(response: Dictionary) -> void:
	var id: String = response.id
	var was_cut := _cut.erase(id)
	if response.get("status") == "cancelled" and not was_cut:
		cut(id, true)
		_cut.erase(id)
		_begun.erase(id)
		return
	_begun.erase(id)
	for item: Dictionary in _items.duplicate():
		if item.response != id:
			continue
		speaker.complete(item.id)
		if item.received == 0:
			_on_ended(item.id)
		elif item.held >= 0 and item.received == item.base:
			_end_held(item)


func _obey(session: Variant) -> void:
	_can_interrupt = Wire.of(session, "audio/input/turn_detection/interrupt_response") != false
	var extensions: Variant = Wire.of(session, "x_dramatis/extensions")
	_tells_heard = extensions is Array and "heard" in extensions


func _find(item_id: String) -> Dictionary:
	for item in _items:
		if item.id == item_id:
			return item
	return {}


func _open(item_id: String, response_id: String) -> Dictionary:
	var known := _find(item_id)
	if known.is_empty():
		known = {"id": item_id, "response": response_id, "received": 0, "base": 0, "held": -1}
		_items.append(known)
	return known


## Reports soon after the start, every 150 ms, and at the end.
func _tell(response_id: String, samples: int, is_last: bool) -> void:
	if response_id != _reported:
		_reported_samples = -REPORT_SAMPLES
	_reported = response_id
	if samples <= 0 or (samples - _reported_samples < REPORT_SAMPLES and not is_last):
		return
	_reported_samples = samples
	_report(response_id, samples, is_last, false)


func _report(response_id: String, samples: int, is_final: bool, is_held: bool) -> void:
	if not _tells_heard:
		return
	var told := {"type": "x_dramatis.heard", "event_id": UNASKED, "response_id": response_id, "samples": samples}
	if is_held:
		told["held"] = true
	if is_final:
		sent.emit(told)
	else:
		mentioned.emit(told)


func _truncate(item_id: String, heard: int) -> void:
	@warning_ignore("integer_division")
	var end_ms := heard * 1000 / Wire.SAMPLE_RATE
	sent.emit({"type": "conversation.item.truncate", "event_id": UNASKED, "item_id": item_id, "content_index": 0, "audio_end_ms": end_ms})
