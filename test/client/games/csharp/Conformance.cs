using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using Dramatis;

/// <summary>Gives the inputs of the conformance file to the client and writes what it does.</summary>
sealed class Conformance : ITransport
{
    readonly Talk talk;
    readonly List<object> wire = new List<object>();
    readonly List<object> speaker = new List<object>();
    readonly List<object> game = new List<object>();

    Conformance()
    {
        talk = new Talk(new TalkOptions { Character = "alice", Random = () => 0 }, this);
        talk.Received += told => game.Add(Call("event").With("event", told));
        talk.Due += told => game.Add(Call("due").With("event", told));
        talk.ConnectionChanged += change =>
        {
            var call = Call(change.Kind);
            if (change.Kind == "open") call.With("isNew", change.IsNew).With("isRestarted", change.IsRestarted).With("lostMs", change.LostMs);
            if (change.Kind == "lost") call.With("attempt", change.Attempt).With("retryInMs", change.RetryInMs);
            game.Add(call);
        };
        talk.Playback += (kind, item, samples, sound) =>
        {
            var call = Call(kind.ToString().ToLowerInvariant());
            if (item != null) call.With("item", item);
            if (kind == PlaybackKind.Cut) call.With("heard", samples);
            if (kind == PlaybackKind.Play) call.With("samples", sound.Length).With("sum", sound.Sum(sample => (int)sample));
            speaker.Add(call);
        };
    }

    static void Main(string[] files)
    {
        var results = new List<object>();
        foreach (JsonObject each in (List<object>)Json.Parse(File.ReadAllText(files[0])))
        {
            var client = new Conformance();
            results.Add(each.List("steps").Select(step => client.Take(((JsonObject)step).Object("input"))).ToList());
        }
        File.WriteAllText(files[1], Json.Write(results));
    }

    object Take(JsonObject input)
    {
        wire.Clear();
        speaker.Clear();
        game.Clear();
        switch (input.Text("do"))
        {
            case "open": talk.Open(); break;
            case "text": talk.SocketText(Json.Write(input.Object("frame"))); break;
            case "binary": talk.SocketBytes(Convert.FromBase64String(input.Text("frame"))); break;
            case "render":
                talk.Speaker.Render(new float[10000], 0, (int)input.Number("samples"));
                talk.Update(0);
                break;
            case "latency": talk.Speaker.LatencySamples = (int)input.Number("samples"); break;
            case "say": talk.Say(input.Text("text"), (int?)input.Number("player")); break;
            case "audio": talk.SendAudio(Convert.FromBase64String(input.Text("pcm16")), (int)(input.Number("player") ?? 0)); break;
            case "send": talk.Send(input.Object("event")); break;
            case "interrupt": talk.Interrupt(); break;
            case "close": talk.Close(); break;
            case "lost": talk.SocketClosed((int)input.Number("code")); break;
            case "wait": talk.Update((double)input.Number("ms")); break;
            case "mouth":
                var weights = talk.LipSync.WeightsAt((double)input.Number("sample"));
                var written = weights == null ? null : new JsonObject();
                if (weights != null) foreach (var weight in weights) written.With(weight.Key, weight.Value);
                game.Add(Call("mouth").With("weights", written));
                break;
            default: throw new ArgumentException(input.Text("do"));
        }
        return new JsonObject().With("wire", wire.ToList()).With("speaker", speaker.ToList()).With("game", game.ToList());
    }

    static JsonObject Call(string name) => new JsonObject().With("call", name);

    public void Dial(string query, IList<string> protocols) => wire.Add(Call("dial").With("query", query).With("protocols", protocols));

    public void Send(string text) => wire.Add(Call("text").With("event", Json.Parse(text)));

    public void Send(byte[] bytes) => wire.Add(Call("binary").With("kind", "input").With("frame", Convert.ToBase64String(bytes)));

    public void Close(int code) => wire.Add(Call("close").With("code", code));
}
