using System;
using System.Collections.Concurrent;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Threading;
using Dramatis;

/// <summary>
/// A talk in the terminal: `ConsoleGame http://localhost:8080 alice [sound.pcm]`. Type to the character; `/hear FILE` speaks a
/// file of 16-bit mono sound at 24 kHz into the microphone, `/quit` leaves. What the character says is written to the last file.
/// </summary>
static class ConsoleGame
{
    static void Main(string[] args)
    {
        var socket = new ClientSocket(args[0]);
        var talk = new Talk(new TalkOptions { Character = args[1], Key = Environment.GetEnvironmentVariable("DRAMATIS_API_KEY") }, socket);
        Tell(talk);
        var typed = new ConcurrentQueue<string>();
        new Thread(() =>
        {
            for (var line = Console.ReadLine(); line != null; line = Console.ReadLine()) typed.Enqueue(line);
            typed.Enqueue("/quit");
        }) { IsBackground = true }.Start();
        using (var loudspeaker = args.Length > 2 ? File.Create(args[2]) : Stream.Null) Run(talk, socket, typed, loudspeaker);
    }

    /// <summary>The game's loop: a frame each 10 ms.</summary>
    static void Run(Talk talk, ClientSocket socket, ConcurrentQueue<string> typed, Stream loudspeaker)
    {
        var microphone = new MemoryStream();
        var clock = Stopwatch.StartNew();
        var buffer = new float[Pcm.SampleRate];
        var mouth = "sil";
        long rendered = 0;
        talk.Open();
        for (var before = 0.0; ; Thread.Sleep(10))
        {
            var now = clock.Elapsed.TotalMilliseconds;
            while (typed.TryDequeue(out var line))
            {
                if (line.StartsWith("/hear ")) microphone = new MemoryStream(File.ReadAllBytes(line.Substring(6)));
                else if (line == "/quit")
                {
                    talk.Close();
                    Thread.Sleep(100);
                    return;
                }
                else talk.Say(line);
            }
            socket.Pump(talk);
            // A microphone of silence, unless a file speaks. An engine gives you its own here.
            var samples = (int)Math.Min(buffer.Length, (long)(now * Pcm.SampleRate / 1000) - rendered);
            rendered += samples;
            var heard = new byte[samples * 2];
            microphone.Read(heard, 0, heard.Length);
            talk.SendAudio(heard);
            // The loudspeaker. An engine pulls from its audio thread.
            talk.Speaker.Render(buffer, 0, samples);
            var sound = Pcm.ToBytes(buffer, samples);
            loudspeaker.Write(sound, 0, sound.Length);
            talk.Update(now - before);
            before = now;
            // The face: mix the weights into your rig with `VisemeTables.Mixed`.
            var weights = talk.LipSync.Weights();
            var shape = weights == null || weights.Count == 0 ? "?" : weights.OrderBy(each => -each.Value).First().Key;
            if (shape != mouth) Console.WriteLine("mouth " + (mouth = shape));
        }
    }

    static void Tell(Talk talk)
    {
        talk.ConnectionChanged += change =>
        {
            if (change.Kind == "open") Console.WriteLine(change.IsNew ? "connected" : "resumed, lost " + change.LostMs + " ms of you");
            else Console.WriteLine(change.Kind);
        };
        talk.Received += told =>
        {
            var type = told.Text("type");
            if (type == "response.output_audio_transcript.delta") Console.WriteLine("says " + told.Text("delta").Trim());
            else if (type == "conversation.item.input_audio_transcription.completed") Console.WriteLine("you " + told.Text("transcript").Trim());
            else if (type == "response.done") Console.WriteLine("done " + told.Object("response").Text("status"));
            else if (type == "error") Console.WriteLine("error " + told.Object("error").Text("message"));
        };
        talk.Due += told => Console.WriteLine("* " + told.Text("text"));
        talk.Playback += (kind, item, samples, sound) =>
        {
            if (kind == PlaybackKind.Cut) Console.WriteLine("cut after " + samples + " samples");
            if (kind == PlaybackKind.Ended) Console.WriteLine("heard " + samples + " samples");
        };
    }
}
