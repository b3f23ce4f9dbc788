## A conversation with a character, without socket and loudspeaker: `character.gd` has both. Frames that the network loses are
## sent again; nothing is repeated.
extends RefCounted

const Link := preload("link.gd")
const Player := preload("player.gd")
const ASKED := "asked"

## Every event of the server, those unknown to this client too, except sound.
signal received(told: Dictionary)
## An `x_dramatis.cue` or `x_dramatis.action` whose word is heard now.
signal due(told: Dictionary)
## kind: `connecting`, `open` (is_new, is_restarted, lost_ms), `lost` (it dials again), `refused`, `replaced` or `closed`.
signal connection_changed(change: Dictionary)

var link := Link.new()
var player := Player.new()

var _is_reply_owed := false


func _init() -> void:
	link.taken.connect(_take)
	link.sounded.connect(_sound)
	link.changed.connect(_on_changed)
	player.sent.connect(func(told: Dictionary) -> void: link.send(told))
	player.mentioned.connect(link.mention)
	player.moments.due.connect(func(told: Dictionary) -> void: due.emit(told))


## Once a frame: milliseconds since the last call.
func update(elapsed_ms: float) -> void:
	player.update()
	link.dialer.tick(elapsed_ms)


func send(told: Dictionary) -> bool:
	return link.send(told)


## Says something to the character in text; interrupts it. False if there is no session.
func say(text: String, by_player := -1) -> bool:
	if player.is_playing() or not player.active.is_empty():
		interrupt()
	var item := {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
	if by_player >= 0:
		item["x_dramatis"] = {"player": by_player}
	if not send({"type": "conversation.item.create", "item": item}):
		return false
	_is_reply_owed = true
	_ask_if_free()
	return true


## Stops the reply and tells the server how much of it was heard.
func interrupt() -> void:
	var id := "" if player.active.is_empty() else player.active[-1]
	var is_to_cancel := id != "" and not player.is_cut(id)
	player.cut(id, true)
	if is_to_cancel:
		send({"type": "response.cancel", "event_id": Player.UNASKED, "response_id": id})


func _sound(response_id: String, item_id: String, offset: int, pcm16: PackedByteArray) -> void:
	player.play(item_id, response_id, pcm16)
	player.lips.received(item_id, response_id, offset + (pcm16.size() >> 1))


func _take(told: Dictionary) -> void:
	player.take(told)
	if _is_own(told):
		return
	player.lips.take(told)
	player.moments.take(told)
	received.emit(told)


func _on_changed(change: Dictionary) -> void:
	if change.get("is_new", false) or change.kind in ["refused", "replaced", "closed"]:
		_is_reply_owed = false
		player.active.clear()
		player.abandon()
	connection_changed.emit(change)


## Notes what is being answered. True for errors about what was sent unasked.
func _is_own(told: Dictionary) -> bool:
	match told.type:
		"response.created":
			player.active.append(told.response.id)
		"response.done":
			player.active.erase(told.response.id)
			_ask_if_free()
		"error":
			if told.error.get("event_id") == Player.UNASKED:
				return true
			if told.error.get("event_id") != ASKED or told.error.get("code") != "conversation_already_has_active_response":
				return false
			# Another reply began meanwhile: ask again when it is done.
			_is_reply_owed = true
			return true
	return false


func _ask_if_free() -> void:
	if not _is_reply_owed or not player.active.is_empty():
		return
	_is_reply_owed = false
	send({"type": "response.create", "event_id": ASKED})
