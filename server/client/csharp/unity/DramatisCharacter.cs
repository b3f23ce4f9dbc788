// The tests of Dramatis have no Unity: they compile this against stubs, and never run it. What can go wrong is in ../core, which
// they run.
using System;
using System.Collections.Generic;
using Dramatis;
using UnityEngine;
using UnityEngine.Events;

/// <summary>
/// A character of a Dramatis server: put it on a GameObject with an AudioSource. Sound comes from there, the mouth moves the
/// blend shapes of `Face`, the microphone is the default one. Needs sockets of .NET: every platform but WebGL.
/// </summary>
[RequireComponent(typeof(AudioSource))]
public sealed class DramatisCharacter : MonoBehaviour
{
    [Serializable] public sealed class TextEvent : UnityEvent<string> { }

    public string Url = "http://localhost:8080";
    public string Character = "alice";
    [Tooltip("A client secret from your own server; leave it empty for a server on this machine.")] public string Key = "";
    public bool ListensToMicrophone = true;
    public SkinnedMeshRenderer Face;
    [Tooltip("What the names of the blend shapes begin with, such as `Face.`")] public string ShapePrefix = "";
    [Range(0, 1)] public float MouthStrength = 0.8f;
    /// <summary>Words of the character, as they come.</summary>
    public TextEvent Says = new TextEvent();
    /// <summary>An action or cue when its word is heard, as JSON.</summary>
    public TextEvent Acts = new TextEvent();
    /// <summary>Every event of the server as JSON.</summary>
    public TextEvent Receives = new TextEvent();

    Talk talk;
    ClientSocket socket;
    AudioClip microphone;
    int microphoneAt;
    double renderedPosition;
    float[] mono = new float[4096];
    float last;
    int outputRate;
    readonly Dictionary<string, int> shapes = new Dictionary<string, int>();

    public Talk Talk => talk;

    void Start()
    {
        Application.runInBackground = true;
        outputRate = AudioSettings.outputSampleRate;
        socket = new ClientSocket(Url);
        talk = new Talk(new TalkOptions { Character = Character, Key = Key }, socket);
        AudioSettings.GetDSPBufferSize(out var length, out var count);
        talk.Speaker.LatencySamples = (int)((long)length * count * Pcm.SampleRate / outputRate);
        talk.Received += told =>
        {
            if (told.Text("type") == "response.output_audio_transcript.delta") Says.Invoke(told.Text("delta"));
            Receives.Invoke(Json.Write(told));
        };
        talk.Due += told => Acts.Invoke(Json.Write(told));
        talk.Open();
        if (ListensToMicrophone && Microphone.devices.Length > 0) microphone = Microphone.Start(null, true, 1, Pcm.SampleRate);
        GetComponent<AudioSource>().Play();
    }

    void Update()
    {
        socket.Pump(talk);
        Listen();
        talk.Update(Time.unscaledDeltaTime * 1000.0);
        MoveMouth();
    }

    void OnDestroy() => talk?.Close();

    public void Say(string text) => talk.Say(text);

    void Listen()
    {
        if (microphone == null) return;
        var at = Microphone.GetPosition(null);
        var count = (at - microphoneAt + microphone.samples) % microphone.samples;
        if (count == 0) return;
        var samples = new float[count];
        microphone.GetData(samples, microphoneAt);
        microphoneAt = at;
        talk.SendAudio(Pcm.ToBytes(samples, count));
    }

    void MoveMouth()
    {
        if (Face == null) return;
        var weights = talk.LipSync.Weights();
        if (weights == null) return;
        var mixed = VisemeTables.Mixed(VisemeTables.ArKit, weights);
        foreach (var name in VisemeTables.NamesOf(VisemeTables.ArKit))
        {
            if (!shapes.TryGetValue(name, out var index)) shapes[name] = index = Face.sharedMesh.GetBlendShapeIndex(ShapePrefix + name);
            mixed.TryGetValue(name, out var weight);
            if (index >= 0) Face.SetBlendShapeWeight(index, (float)(weight * MouthStrength * 100));
        }
    }

    /// <summary>The audio thread: 24 kHz to the rate of the output, by straight lines between samples.</summary>
    void OnAudioFilterRead(float[] data, int channels)
    {
        if (talk == null || outputRate == 0) return;
        var frames = data.Length / channels;
        var step = (double)Pcm.SampleRate / outputRate;
        var needed = (int)(renderedPosition + frames * step);
        if (mono.Length < needed) mono = new float[needed];
        talk.Speaker.Render(mono, 0, needed);
        for (var frame = 0; frame < frames; frame += 1)
        {
            var position = renderedPosition + frame * step;
            var index = (int)position;
            var before = index == 0 ? last : mono[index - 1];
            var after = index < needed ? mono[index] : before;
            var value = before + (after - before) * (float)(position - index);
            for (var channel = 0; channel < channels; channel += 1) data[frame * channels + channel] = value;
        }
        if (needed > 0) last = mono[needed - 1];
        renderedPosition += frames * step - needed;
    }
}
