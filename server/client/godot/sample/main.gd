## A face that talks: type to it, or speak if `listens_to_microphone` of the character is on.
extends Control

@onready var character := $Character
@onready var face := $Face
@onready var words: Label = $Words
@onready var input: LineEdit = $Say


func _ready() -> void:
	character.says.connect(func(text: String) -> void: words.text += text)
	character.acts.connect(func(event: Dictionary) -> void: words.text += " (%s) " % event.get("name", event.get("text", "")))
	character.received.connect(_on_received)
	character.connection_changed.connect(_on_connection_changed)
	input.text_submitted.connect(_on_text_submitted)


func _process(_delta: float) -> void:
	face.set_mouth(character.mouth())


func _on_received(event: Dictionary) -> void:
	if event.type == "response.created":
		words.text = ""


func _on_connection_changed(change: Dictionary) -> void:
	if change.kind == "lost":
		words.text += " … "
	elif change.kind == "refused":
		words.text = "The server refused: %s" % [change.get("error")]


func _on_text_submitted(text: String) -> void:
	character.say(text)
	input.clear()
