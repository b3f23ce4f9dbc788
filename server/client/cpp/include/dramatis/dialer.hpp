// One socket after another.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "json.hpp"
#include "outbox.hpp"

namespace dramatis {

/// How the client reaches the network: give it your engine's socket.
struct Transport {
    /// Opens a socket to /v1/realtime with this query, and forgets the one before.
    std::function<void(const std::string& query, const std::vector<std::string>& protocols)> dial;
    std::function<void(const std::string& text)> sendText;
    std::function<void(const Bytes& bytes)> sendBytes;
    std::function<void(int code)> close;
};

/// `connecting`, `open`, `lost` (it dials again), `refused`, `replaced` (another client resumed the session) or `closed`.
struct ConnectionChange {
    std::string kind;
    /// False if the session before was resumed: then nothing is missing but `lostMs` of the user's sound.
    bool isNew = false;
    bool isRestarted = false;
    double lostMs = 0;
    int attempt = 0;
    double retryInMs = 0;
    Json error = {};
};

/// Dials again when the socket breaks: at once after a sudden loss, then after 0.5 s, doubling up to 8 s. Knows nothing of what
/// the frames say.
class Dialer {
public:
    Dialer(Transport transport, std::function<double()> random, std::function<void()> dial, std::function<void(const ConnectionChange&)> onChange)
        : transport_(std::move(transport)), random_(std::move(random)), dial_(std::move(dial)), onChange_(std::move(onChange)) {}

    const Transport& transport() const { return transport_; }

    void open() {
        isWanted_ = true;
        dial();
    }

    /// Returns false if it was closed already.
    bool close() {
        if (!isWanted_) return false;
        drop(normal);
        isWanted_ = false;
        return true;
    }

    void redial() {
        if (!isWanted_) return;
        drop(givenUp);
        ConnectionChange change{"lost"};
        change.attempt = attempts_;
        onChange_(change);
        dial();
    }

    void send(const Frame& frame) {
        if (!hasSocket_) return;
        if (const auto* bytes = std::get_if<Bytes>(&frame)) transport_.sendBytes(*bytes);
        else transport_.sendText(std::get<std::string>(frame));
    }

    /// The server has answered.
    void establish() {
        openInMs_ = -1;
        isEstablished_ = true;
    }

    void noteFrame() {
        if (isEstablished_) noteTraffic();
    }

    void noteTraffic() {
        if (isProven_) return;
        isProven_ = true;
        attempts_ = 0;
        waitMs_ = firstWaitMs;
    }

    void noteError(const Json& error) { error_ = error; }

    void tick(double ms) {
        if (retryInMs_ >= 0 && (retryInMs_ -= ms) <= 0) {
            retryInMs_ = -1;
            redial();
        } else if (openInMs_ >= 0 && (openInMs_ -= ms) <= 0) {
            drop(givenUp);
            retry(0);
        }
    }

    /// The socket has closed; 1006 if it never opened.
    void socketClosed(int code) {
        if (!hasSocket_) return;
        hasSocket_ = false;
        const bool isRefused = code == refused || code == unauthorized || code == forbidden;
        if (!isEstablished_ && !isRefused) strays_ += 1;
        if (isRefused) {
            ConnectionChange change{"refused"};
            change.error = error_;
            return end(change);
        }
        if (code == replaced && strays_ == 0) return end(ConnectionChange{"replaced"});
        if (code == replaced) strays_ = 0;
        retry(code);
    }

private:
    static constexpr double openPatienceMs = 10'000;
    static constexpr double firstWaitMs = 500;
    static constexpr double mostWaitMs = 8'000;
    static constexpr double chance = 0.3;
    static constexpr int normal = 1000;
    static constexpr int goingAway = 1001;
    static constexpr int refused = 1008;
    static constexpr int tryAgainLater = 1013;
    static constexpr int unauthorized = 3000;
    static constexpr int forbidden = 3003;
    static constexpr int givenUp = 4000;
    static constexpr int replaced = 4001;
    static constexpr int moved = 4002;

    void retry(int code) {
        attempts_ += 1;
        const bool isSudden = code == moved || (isProven_ && code != goingAway && code != tryAgainLater);
        double inMs = 0;
        if (!isSudden || attempts_ > 1) {
            inMs = std::round(waitMs_ * (1 - chance * random_()));
            waitMs_ = std::min(mostWaitMs, waitMs_ * 2);
        }
        ConnectionChange change{"lost"};
        change.attempt = attempts_;
        change.retryInMs = inMs;
        onChange_(change);
        if (inMs == 0) dial();
        else retryInMs_ = inMs;
    }

    void end(const ConnectionChange& change) {
        isWanted_ = false;
        retryInMs_ = openInMs_ = -1;
        onChange_(change);
    }

    void drop(int code) {
        retryInMs_ = openInMs_ = -1;
        if (!hasSocket_) return;
        hasSocket_ = false;
        if (!isEstablished_) strays_ += 1;
        transport_.close(code);
    }

    void dial() {
        if (!isWanted_) return;
        hasSocket_ = true;
        isEstablished_ = isProven_ = false;
        error_ = {};
        openInMs_ = openPatienceMs;
        dial_();
    }

    Transport transport_;
    std::function<double()> random_;
    std::function<void()> dial_;
    std::function<void(const ConnectionChange&)> onChange_;
    bool isWanted_ = false;
    bool hasSocket_ = false;
    /// The server has answered on this socket.
    bool isEstablished_ = false;
    /// The socket has carried data: if it breaks, it is worth dialing at once.
    bool isProven_ = false;
    /// Sockets given up before the server answered: it may mistake one of them for the latest.
    int strays_ = 0;
    int attempts_ = 0;
    double waitMs_ = firstWaitMs;
    double retryInMs_ = -1;
    double openInMs_ = -1;
    Json error_;
};

/// Finds out that the other side is gone though the socket looks open: asks every two seconds, and gives up when three questions
/// got no answer.
class Heartbeat {
public:
    Heartbeat(std::function<void()> onBeat, std::function<void()> onSilence) : onBeat_(std::move(onBeat)), onSilence_(std::move(onSilence)) {}

    void start() {
        stop();
        beat();
    }

    void stop() {
        nextInMs_ = -1;
        unanswered_ = 0;
    }

    void heard() { unanswered_ = 0; }

    void answered() {
        answers_ = true;
        unanswered_ = 0;
    }

    void tick(double ms) {
        if (nextInMs_ >= 0 && (nextInMs_ -= ms) <= 0) beat();
    }

private:
    static constexpr double beatMs = 2'000;
    static constexpr int mostUnanswered = 3;

    void beat() {
        if (answers_ && unanswered_ >= mostUnanswered) {
            stop();
            return onSilence_();
        }
        nextInMs_ = beatMs;
        unanswered_ += 1;
        onBeat_();
    }

    std::function<void()> onBeat_;
    std::function<void()> onSilence_;
    double nextInMs_ = -1;
    int unanswered_ = 0;
    /// Some servers never answer; their silence means nothing.
    bool answers_ = false;
};

}  // namespace dramatis
