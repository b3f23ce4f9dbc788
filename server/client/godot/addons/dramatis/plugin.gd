@tool
extends EditorPlugin


func _enter_tree() -> void:
	add_custom_type("DramatisCharacter", "AudioStreamPlayer", preload("character.gd"), null)


func _exit_tree() -> void:
	remove_custom_type("DramatisCharacter")
