## Dials again when the socket breaks: at once after a sudden loss, then after 0.5 s, doubling up to 8 s. Asks every two
## seconds whether the other side is still there. Knows nothing of what the frames say.
extends RefCounted

const OPEN_PATIENCE_MS := 10000.0
const FIRST_WAIT_MS := 500.0
const MOST_WAIT_MS := 8000.0
const CHANCE := 0.3
const BEAT_MS := 2000.0
const MOST_UNANSWERED := 3
const NORMAL := 1000
const GOING_AWAY := 1001
const REFUSALS := [1008, 3000, 3003]
const TRY_AGAIN_LATER := 1013
const GIVEN_UP := 4000
const REPLACED := 4001
const MOVED := 4002

## Opens a socket.
signal dialed
signal hung_up(code: int)
signal changed(change: Dictionary)
## Time to ask the server whether it is there.
signal beat

## Returns a number from 0 to 1.
var random: Callable = randf
var has_socket := false

var _is_wanted := false
## The server has answered on this socket.
var _is_established := false
## The socket has carried data: if it breaks, it is worth dialing at once.
var _is_proven := false
## Sockets given up before the server answered: it may mistake one of them for the latest.
var _strays := 0
var _attempts := 0
var _wait_ms := FIRST_WAIT_MS
var _retry_in_ms := -1.0
var _open_in_ms := -1.0
var _beat_in_ms := -1.0
var _unanswered := 0
## Some servers never answer; their silence means nothing.
var _answers := false
var _error: Variant = null


func open() -> void:
	_is_wanted = true
	_dial()


## Returns false if it was closed already.
func close() -> bool:
	if not _is_wanted:
		return false
	_drop(NORMAL)
	_is_wanted = false
	return true


func redial() -> void:
	if not _is_wanted:
		return
	_drop(GIVEN_UP)
	changed.emit({"kind": "lost", "attempt": _attempts, "retry_in_ms": 0.0})
	_dial()


## The server has answered.
func establish() -> void:
	_open_in_ms = -1.0
	_is_established = true


func start_beats() -> void:
	_unanswered = 0
	_beat()


func note_frame() -> void:
	_unanswered = 0
	if _is_established:
		note_traffic()


func note_traffic() -> void:
	if _is_proven:
		return
	_is_proven = true
	_attempts = 0
	_wait_ms = FIRST_WAIT_MS


func note_answer() -> void:
	_answers = true


func note_error(error: Variant) -> void:
	_error = error


func tick(ms: float) -> void:
	if _retry_in_ms >= 0.0:
		_retry_in_ms -= ms
		if _retry_in_ms <= 0.0:
			_retry_in_ms = -1.0
			redial()
	elif _open_in_ms >= 0.0:
		_open_in_ms -= ms
		if _open_in_ms <= 0.0:
			_drop(GIVEN_UP)
			_retry(0)
	if _beat_in_ms >= 0.0:
		_beat_in_ms -= ms
		if _beat_in_ms <= 0.0:
			_beat()


## The socket has closed; 1006 if it never opened.
func socket_closed(code: int) -> void:
	if not has_socket:
		return
	has_socket = false
	_beat_in_ms = -1.0
	if code in REFUSALS:
		_end({"kind": "refused", "error": _error})
		return
	if not _is_established:
		_strays += 1
	if code == REPLACED and _strays == 0:
		_end({"kind": "replaced"})
		return
	if code == REPLACED:
		_strays = 0
	_retry(code)


func _retry(code: int) -> void:
	_attempts += 1
	var is_sudden := code == MOVED or (_is_proven and code != GOING_AWAY and code != TRY_AGAIN_LATER)
	var in_ms := 0.0
	if not is_sudden or _attempts > 1:
		in_ms = roundf(_wait_ms * (1.0 - CHANCE * random.call()))
		_wait_ms = minf(MOST_WAIT_MS, _wait_ms * 2.0)
	changed.emit({"kind": "lost", "attempt": _attempts, "retry_in_ms": in_ms})
	if in_ms == 0.0:
		_dial()
	else:
		_retry_in_ms = in_ms


func _end(change: Dictionary) -> void:
	_is_wanted = false
	_retry_in_ms = -1.0
	_open_in_ms = -1.0
	changed.emit(change)


func _drop(code: int) -> void:
	_retry_in_ms = -1.0
	_open_in_ms = -1.0
	_beat_in_ms = -1.0
	if not has_socket:
		return
	has_socket = false
	if not _is_established:
		_strays += 1
	hung_up.emit(code)


func _dial() -> void:
	if not _is_wanted:
		return
	has_socket = true
	_is_established = false
	_is_proven = false
	_error = null
	_open_in_ms = OPEN_PATIENCE_MS
	dialed.emit()


func _beat() -> void:
	if _answers and _unanswered >= MOST_UNANSWERED:
		_beat_in_ms = -1.0
		redial()
		return
	_beat_in_ms = BEAT_MS
	_unanswered += 1
	beat.emit()
