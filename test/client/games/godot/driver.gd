## Runs the conformance file, or the sample scene, and tells the page what happens. The page's address says which.
extends Node

const Talk := preload("res://addons/dramatis/talk.gd")
const Wire := preload("res://addons/dramatis/wire.gd")

var page: JavaScriptObject
var scene: Control
var take: JavaScriptObject
## What the microphone hears: 16-bit mono at 24 kHz; undefined at the start.
var speech := PackedByteArray()
var silent_s := 0.0


func _ready() -> void:
	page = JavaScriptBridge.get_interface("window")
	if page.live == null:
		page.report(Wire.text_of(_run_cases()))
		return
	scene = load("res://sample/main.tscn").instantiate()
	var character := scene.get_node("Character")
	character.url = page.live
	character.listens_to_microphone = page.microphone
	take = JavaScriptBridge.create_callback(_on_page)
	page.tell = take
	add_child(scene)
	character.says.connect(func(text: String) -> void: _report("says", text))
	character.heard.connect(func(text: String) -> void: _report("you", text))
	character.acts.connect(func(event: Dictionary) -> void: _report("acts", event))
	character.connection_changed.connect(func(change: Dictionary) -> void: _report(change.kind, change))
	character.received.connect(func(event: Dictionary) -> void: _report("event", event))
	character.talk.player.noted.connect(_on_noted)


func _on_noted(kind: String, item_id: String, samples: int, _pcm16: PackedByteArray) -> void:
	_report(kind, {"item": item_id, "samples": samples})


func _process(delta: float) -> void:
	if scene == null:
		return
	var character := scene.get_node("Character")
	var lips: RefCounted = character.talk.player.lips
	_report("mouth", {"item": lips._heard_item, "sample": lips._heard_samples, "weights": lips.weights()})
	if character.listens_to_microphone:
		return
	# A microphone of our own, in real time: silence around what is said.
	silent_s += delta
	var bytes := 2 * int(silent_s * Wire.SAMPLE_RATE)
	silent_s -= bytes / (2.0 * Wire.SAMPLE_RATE)
	var pcm16 := speech.slice(0, bytes)
	speech = speech.slice(bytes)
	pcm16.resize(bytes)
	character.send_audio(pcm16)


func _report(kind: String, what: Variant) -> void:
	page.report(Wire.text_of([kind, what]))


## "say", text; or "hear", base64: from now on in place of the microphone.
func _on_page(arguments: Array) -> void:
	var character := scene.get_node("Character")
	if arguments[0] == "say":
		character.say(arguments[1])
		return
	character.listens_to_microphone = false
	speech = Marshalls.base64_to_raw(arguments[1])


func _run_cases() -> Array:
	var results := []
	for each: Dictionary in JSON.parse_string(FileAccess.get_file_as_string("res://conformance.json")):
		var client := Client.new()
		results.append(each.steps.map(func(step: Dictionary) -> Dictionary: return client.take(step.input)))
	return results


class Client:
	var talk := Talk.new()
	var wire := []
	var speaker := []
	var game := []

	func _init() -> void:
		talk.link.character = "alice"
		talk.link.dialer.random = func() -> float: return 0.0
		talk.link.dialed.connect(func(query: String, protocols: PackedStringArray) -> void: wire.append({"call": "dial", "query": query, "protocols": protocols}))
		talk.link.hung_up.connect(func(code: int) -> void: wire.append({"call": "close", "code": code}))
		talk.link.sent.connect(_on_sent)
		talk.received.connect(func(told: Dictionary) -> void: game.append({"call": "event", "event": told}))
		talk.due.connect(func(told: Dictionary) -> void: game.append({"call": "due", "event": told}))
		talk.connection_changed.connect(_on_changed)
		talk.player.noted.connect(_on_noted)

	func take(input: Dictionary) -> Dictionary:
		wire = []
		speaker = []
		game = []
		match input.do:
			"open": talk.link.open()
			"text": talk.link.receive_text(Wire.text_of(input.frame))
			"binary": talk.link.receive_bytes(Marshalls.base64_to_raw(input.frame))
			"render":
				talk.player.speaker.render(int(input.samples))
				talk.update(0.0)
			"latency": talk.player.speaker.latency_samples = int(input.samples)
			"say": talk.say(input.text, int(input.get("player", -1)))
			"audio": talk.link.send_audio(Marshalls.base64_to_raw(input.pcm16), int(input.get("player", 0)))
			"send": talk.send(input.event)
			"interrupt": talk.interrupt()
			"close": talk.link.close()
			"lost": talk.link.dialer.socket_closed(int(input.code))
			"wait": talk.update(input.ms)
			"mouth": game.append({"call": "mouth", "weights": talk.player.lips.weights_at(input.sample)})
		return {"wire": wire, "speaker": speaker, "game": game}

	func _on_sent(data: Variant) -> void:
		if data is String:
			wire.append({"call": "text", "event": JSON.parse_string(data)})
		else:
			wire.append({"call": "binary", "kind": "input", "frame": Marshalls.raw_to_base64(data)})

	func _on_changed(change: Dictionary) -> void:
		var call := {"call": change.kind}
		if change.kind == "open":
			call.merge({"isNew": change.is_new, "isRestarted": change.is_restarted, "lostMs": change.lost_ms})
		elif change.kind == "lost":
			call.merge({"attempt": change.attempt, "retryInMs": change.retry_in_ms})
		game.append(call)

	func _on_noted(kind: String, item_id: String, samples: int, pcm16: PackedByteArray) -> void:
		var call := {"call": kind}
		if item_id != "":
			call["item"] = item_id
		if kind == "cut":
			call["heard"] = samples
		elif kind == "play":
			var sum := 0
			for index in samples:
				sum += pcm16.decode_s16(2 * index)
			call.merge({"samples": samples, "sum": sum})
		speaker.append(call)
