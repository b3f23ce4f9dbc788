using System;
using System.Collections.Generic;
using System.Linq;

namespace Dramatis
{
    public sealed class TalkOptions
    {
        /// <summary>Id of the character, such as `alice`.</summary>
        public string Character = "";
        /// <summary>An API key or a client secret. Ship no API key in a game: fetch a client secret from your own server.</summary>
        public string Key;
        /// <summary>A number from 0 to 1 for the waits between two attempts to connect.</summary>
        public Func<double> Random = new Random().NextDouble;
    }

    /// <summary>A socket. It reports to `Talk.SocketText`, `SocketBytes` and `SocketClosed`, on the game's thread.</summary>
    public interface ITransport
    {
        /// <summary>Opens a socket to /v1/realtime with this query, and forgets the one before.</summary>
        void Dial(string query, IList<string> protocols);
        void Send(string text);
        void Send(byte[] bytes);
        void Close(int code);
    }

    /// <summary>`connecting`, `open`, `lost` (it dials again), `refused`, `replaced` (another client resumed the session) or
    /// `closed`.</summary>
    public sealed class ConnectionChange
    {
        public readonly string Kind;
        /// <summary>False if the session before was resumed: then nothing is missing but `LostMs` of the user's sound.</summary>
        public bool IsNew;
        public bool IsRestarted;
        public double LostMs;
        public int Attempt;
        public double RetryInMs;
        public JsonObject Error;

        internal ConnectionChange(string kind)
        {
            Kind = kind;
        }
    }

    public enum PlaybackKind
    {
        /// <summary>Sound was queued.</summary>
        Play,
        /// <summary>Silence at once.</summary>
        Stop,
        /// <summary>The item was cut off after so many samples.</summary>
        Cut,
        /// <summary>The item was heard to its end.</summary>
        Ended,
    }

    /// <summary>A conversation with a character. Call everything from the game's thread, `Update` once a frame; `Speaker.Render`
    /// may run on the audio thread. Frames that the network loses are sent again; nothing is repeated.</summary>
    public sealed class Talk
    {
        const string Asked = "asked";

        readonly Link link;
        readonly Player player;
        readonly List<string> active = new List<string>();
        bool isReplyOwed;

        public readonly Speaker Speaker = new Speaker();
        public readonly LipSync LipSync = new LipSync();
        internal readonly Moments Moments;

        /// <summary>Every event of the server, those unknown to this client too, except sound.</summary>
        public event Action<JsonObject> Received = delegate { };
        /// <summary>An `x_dramatis.cue` or `x_dramatis.action` whose word is heard now.</summary>
        public event Action<JsonObject> Due = delegate { };
        public event Action<ConnectionChange> ConnectionChanged = delegate { };
        /// <summary>Item, samples, and the sound of `Play`.</summary>
        public event Action<PlaybackKind, string, int, short[]> Playback = delegate { };

        public Talk(TalkOptions options, ITransport transport)
        {
            Moments = new Moments(told => Due(told));
            link = new Link(options, this, transport);
            player = new Player(this, Speaker);
        }

        public bool IsPlaying => player.IsPlaying;

        public bool IsAnswering => active.Count > 0;

        public void Open() => link.Open();

        public void Close() => link.Close();

        /// <summary>Once a frame: milliseconds since the last call.</summary>
        public void Update(double elapsedMs)
        {
            player.Update();
            link.Tick(elapsedMs);
        }

        /// <summary>Sends an event of the protocol, now or after reconnecting. False if there is no session.</summary>
        public bool Send(JsonObject told) => link.Send(told);

        /// <summary>Says something to the character in text, for one of several players if given; interrupts it.</summary>
        public bool Say(string text, int? player = null)
        {
            if (IsPlaying || IsAnswering) Interrupt();
            var part = new JsonObject().With("type", "input_text").With("text", text);
            var item = new JsonObject().With("type", "message").With("role", "user").With("content", new List<object> { part });
            if (player is int number) item.With("x_dramatis", new JsonObject().With("player", number));
            if (!Send(new JsonObject().With("type", "conversation.item.create").With("item", item))) return false;
            isReplyOwed = true;
            AskIfFree();
            return true;
        }

        /// <summary>Sends what the microphone of the user, or of one of several players, hears: 16-bit little-endian mono at 24 kHz.</summary>
        public bool SendAudio(byte[] pcm16, int player = 0) => link.SendAudio(pcm16, player);

        /// <summary>Stops the reply and tells the server how much of it was heard.</summary>
        public void Interrupt()
        {
            var id = active.LastOrDefault();
            var isToCancel = id != null && !player.IsCut(id);
            player.Cut(id, true);
            if (isToCancel) Send(new JsonObject().With("type", "response.cancel").With("event_id", Player.Unasked).With("response_id", id));
        }

        public void SocketText(string text) => link.ReceiveText(text);

        public void SocketBytes(byte[] bytes) => link.ReceiveBytes(bytes);

        /// <summary>1006 if the socket broke or did not open; 1008 if the server refused (401, 403).</summary>
        public void SocketClosed(int code) => link.SocketClosed(code);

        internal bool IsActive(string responseId) => active.Contains(responseId);

        internal void Mention(JsonObject told) => link.Mention(told);

        internal void Note(PlaybackKind kind, string itemId, int samples, short[] sound) => Playback(kind, itemId, samples, sound);

        internal void Sound(string responseId, string itemId, long offset, short[] samples)
        {
            player.Play(itemId, responseId, samples);
            LipSync.Received(itemId, responseId, offset + samples.Length);
        }

        internal void Take(JsonObject told)
        {
            player.Take(told);
            if (IsOwn(told)) return;
            LipSync.Take(told);
            Moments.Take(told);
            Received(told);
        }

        internal void Changed(ConnectionChange change)
        {
            var isOver = change.Kind == "refused" || change.Kind == "replaced" || change.Kind == "closed";
            if (change.IsNew || isOver)
            {
                isReplyOwed = false;
                active.Clear();
                player.Abandon();
            }
            ConnectionChanged(change);
        }

        /// <summary>Notes what is being answered. True for errors about what was sent unasked.</summary>
        bool IsOwn(JsonObject told)
        {
            switch (told.Text("type"))
            {
                case "response.created":
                    active.Add(told.Object("response").Text("id"));
                    break;
                case "response.done":
                    active.Remove(told.Object("response").Text("id"));
                    AskIfFree();
                    break;
                case "error":
                    var error = told.Object("error");
                    if (error?.Text("event_id") == Player.Unasked) return true;
                    if (error?.Text("event_id") != Asked || error.Text("code") != "conversation_already_has_active_response") return false;
                    // Another reply began meanwhile: ask again when it is done.
                    isReplyOwed = true;
                    return true;
            }
            return false;
        }

        void AskIfFree()
        {
            if (!isReplyOwed || active.Count > 0) return;
            isReplyOwed = false;
            Send(new JsonObject().With("type", "response.create").With("event_id", Asked));
        }
    }
}
