using System;

namespace Dramatis
{
    /// <summary>Dials again when the socket breaks: at once after a sudden loss, then after 0.5 s, doubling up to 8 s. Knows
    /// nothing of what the frames say.</summary>
    sealed class Dialer
    {
        const double OpenPatienceMs = 10000;
        const double FirstWaitMs = 500;
        const double MostWaitMs = 8000;
        const double Chance = 0.3;
        const int Normal = 1000;
        const int GoingAway = 1001;
        const int Refused = 1008;
        const int TryAgainLater = 1013;
        const int Unauthorized = 3000;
        const int Forbidden = 3003;
        const int GivenUp = 4000;
        const int Replaced = 4001;
        const int Moved = 4002;

        readonly ITransport transport;
        readonly Func<double> random;
        readonly Action<ITransport> dial;
        readonly Action<ConnectionChange> onChange;
        bool isWanted;
        bool hasSocket;
        /// <summary>The server has answered on this socket.</summary>
        bool isEstablished;
        /// <summary>The socket has carried data: if it breaks, it is worth dialing at once.</summary>
        bool isProven;
        /// <summary>Sockets given up before the server answered: it may mistake one of them for the latest.</summary>
        int strays;
        int attempts;
        double waitMs = FirstWaitMs;
        double retryInMs = -1;
        double openInMs = -1;
        JsonObject error;

        public Dialer(ITransport transport, Func<double> random, Action<ITransport> dial, Action<ConnectionChange> onChange)
        {
            this.transport = transport;
            this.random = random;
            this.dial = dial;
            this.onChange = onChange;
        }

        public void Open()
        {
            isWanted = true;
            Dial();
        }

        /// <summary>Returns false if it was closed already.</summary>
        public bool Close()
        {
            if (!isWanted) return false;
            Drop(Normal);
            isWanted = false;
            return true;
        }

        public void Redial()
        {
            if (!isWanted) return;
            Drop(GivenUp);
            onChange(new ConnectionChange("lost") { Attempt = attempts });
            Dial();
        }

        public void Send(object data)
        {
            if (!hasSocket) return;
            if (data is byte[] bytes) transport.Send(bytes);
            else transport.Send((string)data);
        }

        public void Establish()
        {
            openInMs = -1;
            isEstablished = true;
        }

        public void NoteFrame()
        {
            if (isEstablished) NoteTraffic();
        }

        public void NoteTraffic()
        {
            if (isProven) return;
            isProven = true;
            attempts = 0;
            waitMs = FirstWaitMs;
        }

        public void NoteError(JsonObject told) => error = told;

        public void Tick(double ms)
        {
            if (retryInMs >= 0 && (retryInMs -= ms) <= 0)
            {
                retryInMs = -1;
                Redial();
            }
            else if (openInMs >= 0 && (openInMs -= ms) <= 0)
            {
                openInMs = -1;
                Drop(GivenUp);
                Retry(0);
            }
        }

        /// <summary>The socket has closed; 1006 if it never opened.</summary>
        public void SocketClosed(int code)
        {
            if (!hasSocket) return;
            hasSocket = false;
            if (!isEstablished && code != Refused) strays += 1;
            if (code == Refused || code == Unauthorized || code == Forbidden)
            {
                End(new ConnectionChange("refused") { Error = error });
                return;
            }
            if (code == Replaced && strays == 0)
            {
                End(new ConnectionChange("replaced"));
                return;
            }
            if (code == Replaced) strays = 0;
            Retry(code);
        }

        void Retry(int code)
        {
            attempts += 1;
            var isSudden = code == Moved || isProven && code != GoingAway && code != TryAgainLater;
            double inMs = 0;
            if (!isSudden || attempts > 1)
            {
                inMs = Math.Round(waitMs * (1 - Chance * random()));
                waitMs = Math.Min(MostWaitMs, waitMs * 2);
            }
            onChange(new ConnectionChange("lost") { Attempt = attempts, RetryInMs = inMs });
            if (inMs == 0) Dial();
            else retryInMs = inMs;
        }

        void End(ConnectionChange change)
        {
            isWanted = false;
            retryInMs = openInMs = -1;
            onChange(change);
        }

        void Drop(int code)
        {
            retryInMs = openInMs = -1;
            if (!hasSocket) return;
            hasSocket = false;
            if (!isEstablished) strays += 1;
            transport.Close(code);
        }

        void Dial()
        {
            if (!isWanted) return;
            hasSocket = true;
            isEstablished = isProven = false;
            error = null;
            openInMs = OpenPatienceMs;
            dial(transport);
        }
    }

    /// <summary>Finds out that the other side is gone though the socket looks open: asks every two seconds, and gives up when
    /// three questions got no answer.</summary>
    sealed class Heartbeat
    {
        const double BeatMs = 2000;
        const int MostUnanswered = 3;

        readonly Action onBeat;
        readonly Action onSilence;
        double nextInMs = -1;
        int unanswered;
        /// <summary>Some servers never answer; their silence means nothing.</summary>
        bool answers;

        public Heartbeat(Action onBeat, Action onSilence)
        {
            this.onBeat = onBeat;
            this.onSilence = onSilence;
        }

        public void Start()
        {
            Stop();
            Beat();
        }

        public void Stop()
        {
            nextInMs = -1;
            unanswered = 0;
        }

        public void Heard() => unanswered = 0;

        public void Answered()
        {
            answers = true;
            unanswered = 0;
        }

        public void Tick(double ms)
        {
            if (nextInMs >= 0 && (nextInMs -= ms) <= 0) Beat();
        }

        void Beat()
        {
            if (answers && unanswered >= MostUnanswered)
            {
                Stop();
                onSilence();
                return;
            }
            nextInMs = BeatMs;
            unanswered += 1;
            onBeat();
        }
    }
}
